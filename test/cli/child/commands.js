// Runs command lines one after the other in this process, and prints their outcomes as JSON.
import { pathToFileURL } from "node:url";

const [dist, argvs] = process.argv.slice(2);
const { run } = await import(pathToFileURL(`${dist}/cli/program.js`).href);

const outcomes = [];
for (const argv of JSON.parse(argvs)) {
  let [stdout, stderr] = ["", ""];
  const io = {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: process.env,
  };
  outcomes.push({ status: await run(argv, io), stdout, stderr });
}
console.log(JSON.stringify(outcomes));
