import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Store } from "windrow";
import type { ReadQuery } from "windrow/store";
import { everybody, messageRecord, sessionWith } from "../kit/inside/store.ts";
import { filesFixture } from "../kit/stores.ts";

/** Lines that are a record no more, or another program's. */
const damages: Readonly<Record<string, (line: string) => string>> = {
  none: (line) => line,
  torn: (line) => line.slice(0, line.length / 2),
  flipped: (line) => line.replace("text", "texT"),
  blank: () => "",
  nuls: (line) => "\0".repeat(line.length),
  spaced: (line) => JSON.stringify(withoutChecksum(JSON.parse(line) as Record<string, unknown>)).replace(":", " : "),
};

function withoutChecksum(line: Record<string, unknown>): object {
  const { crc: _, ...fields } = line;
  return fields;
}

async function numbers(store: Store, id: string, query: Partial<ReadQuery>): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { seq } of store.read(everybody, id, { kind: "message", ...query })) found.push(seq);
  return found;
}

it("a range holds what the whole log has in it, whatever lines are damaged", { tags: ["slow"] }, async () => {
  const line = fc.record({
    characters: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 8_000, max: 40_000 })),
    damage: fc.oneof({ weight: 4, arbitrary: fc.constant("none") }, fc.constantFrom(...Object.keys(damages))),
  });
  const given = fc.array(line, { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(given, fc.nat(70), fc.nat(70), async (lines, from, to) => {
      const fixture = await filesFixture();
      try {
        const lock = await sessionWith(fixture.store, 0);
        for (const { characters } of lines) await fixture.store.append(lock, [messageRecord("a".repeat(characters))]);
        await lock.release();
        const log = join(fixture.folder, "running", lock.id, "messages.jsonl");
        const written = (await readFile(log, "utf8")).split("\n").slice(0, -1);
        const damaged = written.map((text, index) => damages[lines[index]?.damage ?? "none"]!(text));
        await writeFile(log, `${damaged.join("\n")}\n`);
        const all = await numbers(fixture.store, lock.id, {});
        expect(all.length).toBeGreaterThanOrEqual(lines.filter(({ damage }) => damage === "none").length);
        const inside = all.filter((seq) => seq >= from && seq <= to);
        expect(await numbers(fixture.store, lock.id, { from, to })).toEqual(inside);
      } finally {
        await fixture.close();
      }
    }),
    { numRuns: 60 },
  );
});
