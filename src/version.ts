/** The version of the installed package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

/** The folder of the installed package, wherever the calling file was built to. */
export function packageFolder(): string {
  return dirname(manifestPath());
}

/** The version in Windrow's package.json, wherever the calling file was built to. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(manifestPath(), "utf8")) as { readonly version: string }).version;
}

function manifestPath(): string {
  return createRequire(import.meta.url).resolve("windrow/package.json");
}
