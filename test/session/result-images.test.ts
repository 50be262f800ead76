/** A session whose results hold text and an image: shortened texts beside their images, also after a restart. */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { toolResults } from "../kit/inside/message.ts";
import { asked, newFolder } from "../kit/sessions.ts";

const open = (store: string): Promise<SessionManager> =>
  SessionManager.open({ store, budget: 50_000, counter: "estimate", strategy: "pi" });

it("shows them the same after a restart, from what the record says", async () => {
  const folder = await newFolder();
  const manager = await open(folder);
  const session = await manager.create();
  await session.append(asked("Look at every page."));
  const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=", width: 150, height: 150 } as const;
  for (let page = 1; page <= 9; page++) {
    await session.compose();
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId: `c${page}`, name: "look", args: { page } }],
    });
    const text = Array.from({ length: 40 }, (_, row) => `row ${row} of page ${page}, and what it says`).join("\n");
    await session.append({
      role: "tool",
      parts: [{ type: "tool-result", callId: `c${page}`, content: [{ type: "text", text }, image] }],
    });
  }
  const window = await session.compose();
  const results = window.messages.flatMap(toolResults).map(({ content }) => content);
  expect(results).toHaveLength(9);
  for (const [at, content] of results.entries()) {
    const rows = at < 3 ? 6 : 40;
    expect(content).toMatchObject([{ type: "text" }, { type: "image", data: image.data }]);
    const [first] = content as readonly { readonly text: string }[];
    expect(first?.text.split("\n"), `result ${at + 1}`).toHaveLength(rows);
  }
  await manager.close();

  const files = await readdir(folder, { recursive: true });
  const edits = files.find((name) => name.endsWith("edits.jsonl")) ?? "";
  expect(await readFile(join(folder, edits), "utf8")).toContain('"keeps_media":true');
  const again = await open(folder);
  const resumed = await again.resume(session.id);
  expect((await resumed.compose()).report.windowHash).toBe(window.report.windowHash);
  await again.close();
});
