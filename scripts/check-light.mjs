/** Importing `windrow` loads at most five packages, and none of those that can wait until they are needed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadedPackages } from "./loaded-packages.mjs";
import { conclude, manifest, root } from "./package-files.mjs";

const mostPackages = 5;
const terminal = ["asciichart", "cli-table3", "commander", "picocolors"];
const servers = ["@modelcontextprotocol/server", "@opentelemetry/api", "pino", "yaml"];
/** Each costs more at import than the whole of Windrow: about 130 ms and 40 ms on a small machine. */
const slow = ["zod", "fs-native-extensions"];
const heavy = [...terminal, ...servers, ...slow];

const entry = join(root, manifest.exports["."].default);
const { packages, files } = existsSync(entry) ? loadedPackages(pathToFileURL(entry).href) : { packages: [], files: 0 };

const faults = packages.filter((name) => heavy.includes(name)).map((name) => `Importing windrow loads ${name}.`);
if (files === 0) faults.push(`${entry} is not there.`);
if (packages.length > mostPackages) {
  faults.push(`Importing windrow loads ${packages.length} packages; at most ${mostPackages}: ${packages.join(", ")}.`);
}
conclude(faults, `${packages.length} packages (${packages.join(", ") || "none"}), ${files} files loaded`);
