/** The example as it was compiled, from the repository's root, with a store of its own. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the example runs through, in more than one epoch", () => {
  const store = mkdtempSync(join(tmpdir(), "windrow-example-"));
  const script = fileURLToPath(new URL("build/examples/genkit.js", import.meta.url));
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const printed = execFileSync(process.execPath, [script, store], { cwd: root, encoding: "utf8" });
  assert.match(printed, /^Windows are composed in src\/window\/composer\.ts\. 41 calls, /);
  assert(Number(/(\d+) epochs/.exec(printed)[1]) > 1, printed);
  assert.match(printed, /^Genkit has 82 messages, the log 82$/m);
  rmSync(store, { recursive: true });
});
