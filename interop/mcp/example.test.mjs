/** The example as it was compiled, with a store of its own. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("the example finds, recalls and pins through the command", () => {
  const store = mkdtempSync(join(tmpdir(), "windrow-example-"));
  const script = fileURLToPath(new URL("build/examples/mcp.js", import.meta.url));
  const printed = execFileSync(process.execPath, [script, store], { encoding: "utf8" });
  assert.match(printed, /^\[m2 assistant\] Tagged v2\.1\.0 on commit 4f2a9c1\.$/m);
  assert.match(printed, /Release 2\.1 from the branch/);
  assert.match(printed, /^windrow_pins: \[p1\] Never release on a Friday$/m);
  rmSync(store, { recursive: true });
});
