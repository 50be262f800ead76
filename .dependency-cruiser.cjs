const { builtinModules } = require("node:module");

/**
 * The house's import rules. A file may import from its own floor and from those below it, never from one above; type
 * imports count (tsPreCompilationDeps).
 */
const floors = [
  [
    "errors.ts",
    "nearest.ts",
    "turns.ts",
    "version.ts",
    "peer.ts",
    "printable.ts",
    "address.ts",
    "warn.ts",
    "handed-in.ts",
    "conformance.ts",
    "message/",
  ],
  ["disk/", "mask/", "shape/", "tokens/", "config/", "http/"],
  ["model/", "store/"],
  ["access/", "window/", "search/", "memory/", "transcript/"],
  ["session/"],
  ["ops/"],
  ["replay/"],
  ["viewer/"],
  ["cli/", "adapter/", "gateway/", "telemetry/", "index.ts", "testing.ts"],
];

const inRooms = (rooms) =>
  `^src/(${rooms.map((room) => room.replace(".", "\\.") + (room.endsWith("/") ? "" : "$")).join("|")})`;

const upward = floors.slice(0, -1).map((rooms, floor) => ({
  name: `floor-${floor}-imports-nothing-above-it`,
  comment: `Move what is shared down, or hand it in as a parameter. This floor: ${rooms.join(", ")}.`,
  severity: "error",
  from: { path: inRooms(rooms) },
  to: { path: inRooms(floors.slice(floor + 1).flat()) },
}));

/** The names of Node's own modules, which imports are resolved to: `node:fs` to `fs`, `node:sqlite` to itself. */
const nodeModules = builtinModules.filter((name) => !name.startsWith("node:")).join("|");

/** Files of subpaths: they name what users import, for users alone. A host's own door is the main file of its folder. */
const doors = "^src/(.+/public|store/author|testing|index)\\.ts$";

const storeDrivers = ["pg", "postgres", "ioredis", "redis", "better-sqlite3", "libsql", "sqlite-vec"];
const terminalPackages = ["commander", "cli-table3", "asciichart", "picocolors"];
const named = (packages) => `(^|node_modules/)(${packages.join("|")})(/|$)`;

module.exports = {
  forbidden: [
    ...upward,
    {
      name: "every-room-has-a-floor",
      comment: "Add the new folder to `floors` in .dependency-cruiser.cjs.",
      severity: "error",
      from: { path: "^src/", pathNot: inRooms(floors.flat()) },
      to: {},
    },
    {
      name: "no-cycle",
      comment: "Move what both files need into a third one below them.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-circle-among-folders",
      comment: "Move what two folders of a room need into one of them, or below both.",
      severity: "error",
      scope: "folder",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "The file or package does not exist, or the package is not in package.json.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: `${named(storeDrivers)}|^(node:)?sqlite$|^@mariozechner/|^windrow(/|$)` },
    },
    {
      name: "pure-rooms-import-nothing-of-node",
      comment: "These rooms run in any JavaScript host: hand time, files, masks and randomness in as parameters.",
      severity: "error",
      from: { path: inRooms(["message/", "shape/", "tokens/", "window/"]), pathNot: "/conformance\\.ts$" },
      to: {
        path: `^(node:.*|(${nodeModules})$)`,
        reachable: true,
      },
    },
    {
      name: "the-measured-do-not-import-the-measure",
      comment: "A strategy that can see the metric can game it.",
      severity: "error",
      from: { path: inRooms(["window/", "session/", "adapter/"]) },
      to: { path: inRooms(["replay/"]), reachable: true },
    },
    {
      name: "readers-see-only-text",
      comment: "An agent that reads windows with the library's own code would understand what no model can.",
      severity: "error",
      from: { path: "^bench/loop/jobs/" },
      to: { pathNot: "^bench/loop/jobs/" },
    },
    {
      name: "the-front-door-is-light",
      comment: "Importing `windrow` must not load the command line, the MCP server, the viewer or OpenTelemetry.",
      severity: "error",
      from: { path: "^src/index\\.ts$" },
      to: { path: "^src/(cli/|gateway/|adapter/mcp/|telemetry/|viewer/)", reachable: true },
    },
    {
      name: "operators-touch-stores-not-sessions",
      comment: "A command reads a session's log through src/session/log.ts; it opens no session.",
      severity: "error",
      from: { path: inRooms(["ops/"]) },
      to: { path: inRooms(["session/"]), pathNot: "^src/session/log\\.ts$" },
    },
    {
      name: "the-file-store-is-private",
      comment:
        "Use the Store and its facets; the lock and the readers of compressed files are in src/store/lock, src/disk.",
      severity: "error",
      from: { path: inRooms(["ops/", "access/"]) },
      to: { path: "^src/store/files/" },
    },
    {
      name: "commands-open-stores-through-their-io",
      comment: "`io.openStore` opens a store on behalf of whom the configuration and the command line say.",
      severity: "error",
      from: { path: "^src/cli/(commands|replay)/" },
      to: { path: "^src/(access|store)/open\\.ts$" },
    },
    ...[
      ["(?!mastra/|adk/|openstarry/)[^/]+", ""],
      ["mastra", "ai-sdk/|"],
      ["adk", "gemini/|"],
      ["openstarry", "chat/|"],
    ].map(([host, provider]) => ({
      name: `adapters-share-only-host${provider === "" ? "" : `-${host}`}`,
      comment:
        "What hosts have in common is in src/adapter/host; one whose messages are another's may read those alone.",
      severity: "error",
      from: { path: `^src/adapter/(${host})/` },
      to: { path: "^src/adapter/[^/]+/", pathNot: `^src/adapter/(${provider}host/|$1/)` },
    })),
    {
      name: "doors-are-for-users",
      comment: "Import the file that declares the name: through a door, a rule about that file would not be seen.",
      severity: "error",
      // Genkit's adapter is written as one outside this repository would be.
      from: { path: "^src/", pathNot: [doors, "^src/adapter/genkit/"] },
      to: { path: doors },
    },
    {
      name: "re-exports-stay-in-their-room",
      comment: "Import from the file that declares the name; only a door names what another room has.",
      severity: "error",
      from: { path: "^src/([^/]+)/", pathNot: [doors, "^src/adapter/(?<host>[^/]+)/\\k<host>\\.ts$"] },
      to: { path: "^src/", pathNot: "^src/$1/", dependencyTypes: ["export"] },
    },
    {
      name: "the-file-store-is-not-re-exported",
      comment: "What other rooms need of it belongs in src/store/format, src/store/shared or src/disk.",
      severity: "error",
      from: { path: "^src/store/", pathNot: "^src/store/files/" },
      to: { path: "^src/store/files/", dependencyTypes: ["export"] },
    },
    {
      name: "drivers-only-in-store-open",
      comment:
        "Users bring their database client: type the methods you need, and load it by name in src/store/open.ts.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/store/open\\.ts$" },
      to: { path: `${named(storeDrivers)}|^(node:)?sqlite$` },
    },
    {
      name: "exact-counting-only-in-exact",
      comment: "Users bring gpt-tokenizer, and src/tokens/exact.ts guards it: call loadCounter or counterOf.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/tokens/exact\\.ts$" },
      to: { path: named(["gpt-tokenizer"]) },
    },
    {
      name: "exact-counting-is-lazy",
      comment: "gpt-tokenizer may not be installed: `await import(…)` where it is needed.",
      severity: "error",
      from: { path: "^src/tokens/exact\\.ts$" },
      to: { path: named(["gpt-tokenizer"]), dynamic: false },
    },
    {
      name: "terminal-packages-only-in-cli",
      comment: "A library prints nothing: hand the data to src/cli.",
      severity: "error",
      from: { path: "^src/", pathNot: inRooms(["cli/"]) },
      to: { path: named(terminalPackages) },
    },
    {
      name: "src-uses-declared-dependencies",
      comment: "Only `dependencies` are installed with the package; hosts are typed by what is needed of them.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/(store/open|tokens/exact|adapter/mcp/(mcp|memory-server|add-tool)|telemetry/[^/]+)\\.ts$",
      },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "npm-peer"] },
    },
    {
      name: "src-imports-only-src",
      comment: "dist is built from src alone.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(web|test|bench|scripts|examples)/" },
    },
    {
      name: "the-page-sees-the-contract-alone",
      comment: "The page runs in a browser: it takes types of the contract, and pure functions of src/viewer/page.",
      severity: "error",
      from: { path: "^web/" },
      to: {
        path: "^(src|test|bench|scripts|examples)/",
        pathNot: "^src/(viewer/(viewer|requests|page/.+|file/decode)|message/message)\\.ts$",
      },
    },
    {
      name: "the-page-imports-nothing-of-node",
      comment: "A browser has no modules of Node: take the import out of what the page reaches.",
      severity: "error",
      from: { path: "^(web/|src/viewer/(page/|file/decode\\.ts$))" },
      to: { path: `^(node:.*|(${nodeModules})$)` },
    },
    {
      name: "the-page-bundles-few-packages",
      comment: "The page's script is at most 60 KB after gzip; draw it by hand.",
      severity: "error",
      from: { path: "^web/" },
      to: { path: "node_modules/", pathNot: named(["preact", "@preact/signals", "virtua", "diff"]) },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|dist-bench|\\.attack|coverage)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
