/** Recall in every host, before and after the host's history was replaced: an id brings back what its note speaks of. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { load } from "./hosts.ts";
import { begin, hostings, readingMessages, readings, replaceHistories } from "./replaced-histories.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "windrow-recall-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("recall answers from what the notes number", () => {
  it.each(hostings)("%s", async (...hosting) => {
    await replaceHistories(hosting, load, folder, (noted, lies, when) => {
      expect({ when, lies }).toEqual({ when, lies: [] });
      assert(noted > 0, `${when}: only ${noted} files are named by the notes`);
    });
  });
});

describe("recall that finds nothing", () => {
  it.each(hostings)("says what to try: %s", async (...hosting) => {
    const opened = await begin(hosting, load, folder);
    await opened.send(readingMessages(readings("some", 12)));
    expect(await opened.recall({ query: "zzz" })).toMatch(/Nothing has these words; try .* Looked through m1-m\d+\./s);
    const wrong = await opened.recall({}).catch((error: Error) => error.message);
    expect(wrong).toContain('"id": "m12"');
    const unknown = await opened.recall({ id: "m3000" }).catch((error: Error) => error.message);
    expect(unknown).toMatch(/no message m3000; the log ends at m\d+/);
    await opened.close();
  });
});
