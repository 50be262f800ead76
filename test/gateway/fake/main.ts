/** The fake as a process: `node main.js PORT [SCENARIO]`. GET /-/faults tells what it saw. */
import { startFake } from "./fake.ts";

const [port = "0", scenario = "plain"] = process.argv.slice(2);
const fake = await startFake({ port: Number(port), scenario });
console.log(fake.url);
