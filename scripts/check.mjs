/**
 * Runs the checks of the package: all of them, those named, or with `quick` those that read the sources alone. Each prints
 * one line when good, and its output and what to do when bad.
 *
 *   npm run check [quick | name…]
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { root } from "./package-files.mjs";

const sources = ["src", "web", "test", "bench", "scripts"].filter((folder) => existsSync(join(root, folder)));
const node = process.execPath;

/** The checks that need neither a build nor a pack, the longest first. They run two at a time. */
const quick = ["lint", "imports", "types", "page", "size", "format"];

const checks = [
  {
    name: "size",
    command: [node, "scripts/check-size.mjs"],
    good: (output) => output,
    advice: "Split the file by concept: one file, one idea that fits in the head.",
  },
  {
    name: "lint",
    command: ["oxlint", "--deny-warnings"],
    good: (output) => output.match(/on \d+ files/)?.[0] ?? "",
    advice: "`npx oxlint --fix` mends what can be mended by itself; a promise is awaited, returned or given to `void`.",
  },
  {
    name: "format",
    command: ["oxfmt", "--check"],
    good: (output) => output.match(/on \d+ files/)?.[0] ?? "",
    advice: "Run `npm run format`.",
  },
  {
    name: "imports",
    command: ["depcruise", ...sources],
    good: (output) => output.match(/\(.*\)/)?.[0].slice(1, -1) ?? "",
    advice: "The rules, with what to do, are in .dependency-cruiser.cjs.",
  },
  {
    name: "types",
    command: ["tsc", "-p", "test/tsconfig.json"],
    good: () => "src, test, bench, scripts",
    advice: "Mend the type errors above.",
  },
  {
    name: "page",
    command: ["tsc", "-p", "web/tsconfig.json"],
    good: () => "types of web",
    advice: "Mend the type errors above; the page sees the DOM and nothing of Node.",
  },
  {
    name: "api",
    command: [node, "scripts/check-api.mjs"],
    good: (output) => output,
    advice:
      "Document the exported name (what for, units, defaults, errors by code), or do not export it. A name that users need raises its door's budget.",
  },
  {
    name: "build",
    command: [node, "scripts/build.mjs"],
    good: (output) => output,
    advice: "Mend what `npm run build` says.",
  },
  {
    name: "exports",
    command: [node, "scripts/check-exports.mjs"],
    good: (output) => output,
    advice: "Build first (`npm run build`); then make package.json and the files agree.",
  },
  {
    name: "web",
    command: [node, "scripts/check-web.mjs"],
    good: (output) => output,
    advice: "Build first (`npm run build`); take the heavy import out of web, or draw by hand what it drew.",
  },
  {
    name: "light",
    command: [node, "scripts/check-light.mjs"],
    good: (output) => output,
    advice: "Load the package lazily where it is used, or import it only from src/cli; build first (`npm run build`).",
  },
  {
    name: "publint",
    command: ["publint", "--strict", "--pack", "npm"],
    good: () => "package.json and the packed files agree",
    advice: "Each line above links to its rule at publint.dev/rules.",
  },
  {
    name: "attw",
    command: ["attw", "--pack", ".", "--profile", "esm-only"],
    good: () => "every subpath has types under node16 and bundler resolution",
    advice: "A subpath's `types` and `default` must name emitted files; build first (`npm run build`).",
  },
  {
    name: "install",
    command: [node, "scripts/check-install.mjs"],
    good: (output) => output,
    advice: "Take the heavy or scripted dependency out: let the user bring it, typed by the methods needed.",
  },
];

const names = process.argv.slice(2);
const wanted = names.length === 1 && names[0] === "quick" ? quick : names;
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(
    `No check is called ${unknown.join(", ")}. Known: quick, ${checks.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const chosen = checks.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const atOnce = quick.flatMap((name) => chosen.filter((check) => check.name === name));
const bad = [];
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, () => runAll(atOnce)));
// The rest read what the build writes, in this order.
await runAll(chosen.filter(({ name }) => !quick.includes(name)));
if (bad.length > 0) {
  console.error(`Failed: ${bad.join(", ")}. One alone: npm run check ${bad[0]}`);
  process.exit(1);
}

/** Runs the checks that are left in a list, until none is. */
async function runAll(left) {
  for (let check = left.shift(); check; check = left.shift()) if (!(await run(check))) bad.push(check.name);
}

async function run({ name, command: [program, ...values], good, advice }) {
  const started = performance.now();
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, PATH: path, NO_COLOR: "1" };
  const options = { cwd: root, env, maxBuffer: 64 << 20 };
  const { code, stdout, stderr } = await promisify(execFile)(program, values, options).catch((error) => error);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (code === undefined) {
    console.log(`ok    ${name.padEnd(8)} ${seconds.padStart(5)} s  ${good(stdout).trim()}`);
    return true;
  }
  console.log(`FAIL  ${name.padEnd(8)} ${seconds.padStart(5)} s\n${stdout ?? ""}${stderr ?? code}\n  → ${advice}\n`);
  return false;
}
