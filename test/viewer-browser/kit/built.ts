/** For vitest: the browser's tests need the built page and the built library, and say loudly where there is no browser. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chromiumPath } from "./chromium.ts";

/** Builds what is missing. */
export function setup(): void {
  if (chromiumPath() === undefined) {
    console.warn(
      "\n== THE TESTS IN A BROWSER ARE LEFT OUT: no Chromium was found (chromium on the path, or CHROMIUM) ==\n",
    );
    return;
  }
  if (existsSync("dist/web/viewer.js") && existsSync("dist/index.js")) return;
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
  if (status !== 0) throw new Error("The page could not be built: npm run build says why.");
}
