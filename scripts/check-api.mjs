/** Every exported name of src carries TSDoc, and the front door (src/index.ts) has at most thirty names. */
import { join } from "node:path";
import ts from "typescript";
import { conclude, root } from "./package-files.mjs";

const mostNames = 30;
const source = join(root, "src/");
const frontDoor = join(root, "src/index.ts");

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
  if (file.fileName === frontDoor) {
    names = exported.length;
    if (names > mostNames) {
      const list = exported.map((symbol) => symbol.name).sort();
      faults.push(`src/index.ts exports ${names} names; at most ${mostNames}. It has ${list.join(", ")}.`);
    }
  }
}

conclude(faults, `${documented.size} exported names documented, ${names} of ${mostNames} at the front door`);
