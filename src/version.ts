/** The version of the installed package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The version in Windrow's package.json, wherever the calling file was built to. */
export function packageVersion(): string {
  const path = createRequire(import.meta.url).resolve("windrow/package.json");
  return (JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }).version;
}
