/**
 * Counts the arrows inside each room of src: distinct imports between its direct children, types included. A room has at
 * most its budget, and its children import each other in no circle. CONTRIBUTING.md's map of the house has one line for
 * each folder of src, and no other, and names each file beside them. The rooms that handle what a store masks make no mask
 * of their own.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTypeScriptConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { conclude, filesUnder, root } from "./package-files.mjs";

/**
 * The most arrows inside a room; every room that is not named has at most `others`. A new transcript format adds three,
 * a new adapter one, and a new kind of store six.
 */
const most = { adapter: 30, store: 60, window: 130, ops: 20, cli: 95, transcript: 60, others: 50 };

process.chdir(root);
const folders = readdirSync("src", { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const files = readdirSync("src").filter((name) => name.endsWith(".ts"));
const rooms = new Map(folders.map((room) => [room, new Map()]));
for (const [from, to] of await imports()) {
  const [room, child] = placeOf(from);
  const [otherRoom, other] = placeOf(to);
  if (room !== otherRoom || child === other || !rooms.has(room)) continue;
  const arrows = rooms.get(room);
  arrows.set(child, (arrows.get(child) ?? new Set()).add(other));
}

const faults = [];
const counts = [];
for (const [room, arrows] of rooms) {
  const count = [...arrows.values()].reduce((sum, targets) => sum + targets.size, 0);
  const budget = most[room] ?? most.others;
  counts.push(`${room} ${count}`);
  if (count > budget) faults.push(`src/${room} has ${count} arrows between its files and folders; at most ${budget}.`);
  const circle = circleIn(arrows);
  if (circle) faults.push(`src/${room} has a circle: ${circle.join(" → ")}.`);
}
faults.push(...mapFaults(), ...maskFaults());
conclude(faults, counts.join(", "));

/** The imports between files of src, as pairs of paths. */
async function imports() {
  const options = await extractOptions(join(root, ".dependency-cruiser.cjs"));
  const typeScript = { tsConfig: extractTypeScriptConfig(join(root, "tsconfig.json")) };
  const { output } = await cruise(["src"], { ...options, validate: false }, undefined, typeScript);
  return output.modules.flatMap(({ source, dependencies }) =>
    dependencies.filter(({ resolved }) => resolved.startsWith("src/")).map(({ resolved }) => [source, resolved]),
  );
}

/** The room of a file of src, and the room's direct child that the file is or lies in. */
function placeOf(path) {
  const [, room, child] = path.split("/");
  return [room, child];
}

/** The first circle among a room's children, its first child repeated at the end. */
function circleIn(arrows) {
  const done = new Set();
  const search = (child, path) => {
    if (path.includes(child)) return [...path.slice(path.indexOf(child)), child];
    if (done.has(child)) return undefined;
    for (const next of arrows.get(child) ?? []) {
      const circle = search(next, [...path, child]);
      if (circle) return circle;
    }
    done.add(child);
    return undefined;
  };
  return [...arrows.keys()].map((child) => search(child, [])).find((circle) => circle !== undefined);
}

/** What differs between the folders of src and the map of rooms in CONTRIBUTING.md: lines that begin with "| `room/` |". */
function mapFaults() {
  const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const mapped = [...text.matchAll(/^\| `([a-z-]+)\/` \|/gm)].map((match) => match[1]);
  const twice = mapped.filter((room, place) => mapped.indexOf(room) !== place);
  return [
    ...folders.filter((room) => !mapped.includes(room)).map((room) => `CONTRIBUTING.md has no line for src/${room}/.`),
    ...mapped
      .filter((room) => !folders.includes(room))
      .map((room) => `CONTRIBUTING.md names src/${room}/, which is not there.`),
    ...twice.map((room) => `CONTRIBUTING.md has two lines for src/${room}/.`),
    ...files
      .filter((file) => !text.includes(`\`${file}\``))
      .map((file) => `CONTRIBUTING.md does not name src/${file}.`),
  ];
}

/**
 * Masks made where the store's belongs: one of their own knows no registered secret. The manager makes the mask of the
 * store that it opens, when it opens it.
 */
function maskFaults() {
  return filesUnder(["src/window", "src/session", "src/adapter"], /\.ts$/).flatMap((file) => {
    const ownMask = file === "src/session/manager/config.ts" ? /^\S.*\bcreateMask\b/m : /\bcreateMask\b/;
    if (!ownMask.test(readFileSync(join(root, file), "utf8"))) return [];
    return [`${file} names createMask: take the store's mask, handed in.`];
  });
}
