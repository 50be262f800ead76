/**
 * Every exported name of src carries TSDoc, and each door, a subpath of package.json, has at most its budget of names, and
 * its file in the paths of test/tsconfig.json, by which tests import it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { conclude, manifest, root } from "./package-files.mjs";

/** The most names of each door. A door that is not here fails: a new one is added with the budget it needs. */
const most = {
  ".": 30,
  "./chat": 10,
  "./adapter": 25,
  "./anthropic": 12,
  "./adk": 10,
  "./gemini": 13,
  "./responses": 9,
  "./ai-sdk": 13,
  "./pi": 7,
  "./mcp": 7,
  "./openai-agents": 8,
  "./genkit": 8,
  "./langchain": 9,
  "./mastra": 10,
  "./openstarry": 8,
  "./window": 59,
  "./memory": 41,
  "./model": 24,
  "./store": 38,
  "./store/author": 69,
  "./store/postgres": 7,
  "./store/redis": 5,
  "./transcript": 7,
  "./ops": 73,
  "./opentelemetry": 3,
  "./viewer": 50,
  "./gateway": 36,
  "./testing": 18,
};
const source = join(root, "src/");
const doors = new Map(
  Object.entries(manifest.exports)
    .filter(([, target]) => typeof target === "object")
    .map(([door, { types }]) => [join(root, types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "src/$1.ts")), door]),
);

const config = ts.getParsedCommandLineOfConfigFile(
  join(root, "tsconfig.build.json"),
  {},
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
    },
  },
);
const program = ts.createProgram(config.fileNames, config.options);
const checker = program.getTypeChecker();

const faults = [];
const documented = new Set();
let names = 0;

for (const file of program.getSourceFiles()) {
  if (!file.fileName.startsWith(source)) continue;
  const module = checker.getSymbolAtLocation(file);
  const exported = module ? checker.getExportsOfModule(module) : [];
  for (const symbol of exported) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (target.getDocumentationComment(checker).length > 0) {
      documented.add(target);
      continue;
    }
    const declaration = target.declarations?.[0];
    // A name that comes from a package is documented there.
    if (!declaration?.getSourceFile().fileName.startsWith(source) || symbol !== target) continue;
    const { line } = file.getLineAndCharacterOfPosition(declaration.getStart(file));
    faults.push(`${file.fileName.slice(root.length + 1)}:${line + 1} exports ${symbol.name} without TSDoc.`);
  }
  const door = doors.get(file.fileName);
  if (door === undefined) continue;
  names += exported.length;
  const budget = most[door];
  const list = exported.map((symbol) => symbol.name).sort();
  const has = `"${door}" exports ${exported.length} names`;
  if (budget === undefined) {
    faults.push(`${has}, and has no budget: add it to the list in scripts/check-api.mjs. It has ${list.join(", ")}.`);
  } else if (exported.length > budget) {
    faults.push(`${has}; its budget in scripts/check-api.mjs is ${budget}. It has ${list.join(", ")}.`);
  }
}

const { paths } = JSON.parse(readFileSync(join(root, "test/tsconfig.json"), "utf8")).compilerOptions;
for (const [file, door] of doors) {
  const name = `${manifest.name}${door.slice(1)}`;
  const path = `../${file.slice(root.length + 1)}`;
  if (paths[name]?.[0] !== path) faults.push(`test/tsconfig.json has no "${name}": ["${path}"] in its paths.`);
}

conclude(faults, `${documented.size} exported names documented; ${doors.size} doors with ${names} names`);
