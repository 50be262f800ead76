/**
 * No file of src and web has more than 250 lines of code, and no other more than 400. Comments, blank lines and imports are free.
 * No class of src has more than 20 public methods, those of its base classes in src included.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { conclude, filesUnder, root } from "./package-files.mjs";

const sizes = filesUnder(["src", "web", "test", "bench", "scripts", "examples"], /\.(tsx?|mjs|cjs|js)$/)
  .map((file) => ({
    file,
    lines: codeLines(readFileSync(join(root, file), "utf8")),
    most: /^(?:src|web)\//.test(file) ? 250 : 400,
  }))
  .sort((a, b) => b.lines - a.lines);

const mostMethods = 20;
const classes = classesOf(programOfSrc()).sort((a, b) => b.methods.length - a.methods.length);

const longest = sizes[0] ? `, the longest ${sizes[0].file} with ${sizes[0].lines} lines of code` : "";
const [widest] = classes;
const methods = widest ? `; ${widest.name} has the most public methods, ${widest.methods.length}` : "";
conclude(
  [
    ...sizes
      .filter(({ lines, most }) => lines > most)
      .map(({ file, lines, most }) => `${file} has ${lines} lines of code; at most ${most}.`),
    ...classes
      .filter(({ methods }) => methods.length > mostMethods)
      .map(
        ({ file, name, methods }) =>
          `${file}: ${name} has ${methods.length} public methods; at most ${mostMethods}. It has ${methods.join(", ")}.`,
      ),
  ],
  `${sizes.length} files${longest}${methods}`,
);

/** Lines that are neither blank nor a comment's nor an import's. */
function codeLines(text) {
  const withoutImports = text.replaceAll(/^(?:import\s[^;]*?|export\s[^;(=]*?\sfrom\s[^;]*?);$/gm, "");
  const code = withoutImports.replaceAll(/^\s*\/\*[\s\S]*?\*\/[ \t]*$/gm, "");
  return code.split("\n").filter((line) => line.trim() !== "" && !/^\s*\/\//.test(line)).length;
}

function programOfSrc() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.build.json"), (path) => readFileSync(path, "utf8"));
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  return ts.createProgram(fileNames, options);
}

/** The classes of src, with the public methods of their instances: a property that holds a function is one. */
function classesOf(program) {
  const checker = program.getTypeChecker();
  const source = join(root, "src/");
  const isOwn = (node) => node.getSourceFile().fileName.startsWith(source);
  const isPublic = (symbol) =>
    !symbol.name.startsWith("#") &&
    symbol.declarations?.some(
      (node) =>
        isOwn(node) && !(ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)),
    );
  const found = [];
  const visit = (node) => {
    if (ts.isClassLike(node)) {
      const methods = checker
        .getPropertiesOfType(checker.getTypeAtLocation(node))
        .filter((symbol) => isPublic(symbol) && checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0)
        .map((symbol) => symbol.name);
      const file = node.getSourceFile().fileName.slice(root.length + 1);
      found.push({ file, name: node.name?.text ?? "a class without a name", methods });
    }
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) if (isOwn(file)) visit(file);
  return found;
}
