/** The doors of package.json as the files of src behind them, for vitest: a test that imports `windrow/store` runs the source. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

interface Alias {
  readonly find: RegExp;
  readonly replacement: string;
}

const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

export const doors: readonly Alias[] = Object.entries(exports).flatMap(([subpath, target]) => {
  if (typeof target === "string") return [];
  const file = target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts");
  return [{ find: new RegExp(`^windrow${subpath.slice(1)}$`), replacement: resolve(file) }];
});
