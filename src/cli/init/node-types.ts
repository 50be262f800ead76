/** Whether a project's TypeScript sees the types of Node, which an agent's file needs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../message/json.ts";

/** The major version of TypeScript from which on packages of types are only seen where tsconfig.json names them. */
const namesTypesFrom = 6;

/** The reason why the types of Node are not seen, for people; undefined where they are, or nothing says otherwise. */
export function missingNodeTypes(folder: string): string | undefined {
  const config = readJson(join(folder, "tsconfig.json"));
  const options = config?.["compilerOptions"];
  const types = isObject(options) ? options["types"] : undefined;
  if (Array.isArray(types)) {
    if (types.some((name) => name === "node" || name === "*")) return undefined;
    return `tsconfig.json has \`types\` without "node"`;
  }
  // A base that it extends may name them.
  if ((config && "extends" in config) || majorOf(folder) < namesTypesFrom) return undefined;
  if (!config) return "there is no tsconfig.json, and TypeScript from 6 on sees none that are not named";
  return "tsconfig.json has no `types`, and TypeScript from 6 on sees none that are not named";
}

function majorOf(folder: string): number {
  const version = readJson(join(folder, "node_modules/typescript/package.json"))?.["version"];
  const manifest = readJson(join(folder, "package.json")) ?? {};
  const named = [manifest["devDependencies"], manifest["dependencies"]].map((one) =>
    isObject(one) ? one["typescript"] : undefined,
  );
  const [text] = [version, ...named].filter((one) => typeof one === "string");
  return Number(/\d+/.exec(text ?? "")?.[0] ?? 0);
}

function readJson(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(withoutComments(readFileSync(path, "utf8").replace(/^\uFEFF/, "")));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The JSON of a tsconfig.json, which may have comments and commas at an end. */
function withoutComments(text: string): string {
  const bare = text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (found) =>
    found.startsWith('"') ? found : " ",
  );
  return bare.replaceAll(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[\]}])/g, (found) => (found === "," ? "" : found));
}
