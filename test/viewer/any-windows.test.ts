/** Any conversation, of any strategy: the window of every call is made again from disk as it was. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import type { Session } from "windrow";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { profileNames, strategyNames } from "windrow/window";
import { history } from "../kit/histories.ts";
import { assertWindows, call } from "./windows.ts";
import type { Composed } from "./windows.ts";
import { runs } from "../kit/runs.ts";

const happenings = ["none", "none", "none", "pin", "undo", "system", "tools", "compose", "sticky", "compact"];

it("rebuilds the windows of any conversation", { tags: ["slow"], timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.constantFrom(...happenings), { minLength: 8, maxLength: 8 }),
      fc.constantFrom(...strategyNames.filter((name) => name !== "none")),
      fc.constantFrom(...profileNames),
      fc.option(fc.integer({ min: 100, max: 600 }), { nil: undefined }),
      async (messages, events, strategy, profile, ingestCap) => {
        const store = await openStore("ram:");
        const cap = ingestCap !== undefined && { ingestCap };
        const manager = await SessionManager.open({ store, budget: 6_000, strategy, profile, ...cap });
        try {
          const session = await manager.create();
          const seen: Composed[] = [];
          for (const [index, message] of messages.slice(0, 80).entries()) {
            await happen(session, events[index % events.length] ?? "none", index);
            if (message.role === "assistant") await callAnyway(session, seen, index, events);
            await session.append(message);
          }
          expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBe(seen.length);
        } finally {
          await manager.close();
        }
      },
    ),
    { numRuns: Math.ceil(runs / 4) },
  );
});

/** A window that cannot fit is the host's trouble, and no call. */
async function callAnyway(session: Session, seen: Composed[], index: number, events: readonly string[]): Promise<void> {
  const event = events[index % events.length];
  const system = event === "system" ? `Prompt ${index}` : "You mend code.";
  const tools = event === "tools" ? [{ name: `tool-${index % 3}` }] : [];
  const dynamic = event === "sticky" ? [{ name: "screen", text: `Screen ${index % 4}`, sticky: true }] : [];
  try {
    await call(session, seen, { system, tools, dynamic });
  } catch (error) {
    if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
  }
}

async function happen(session: Session, event: string, index: number): Promise<void> {
  if (event === "pin") await session.pin(`Rule ${index % 5}`);
  if (event === "undo") await session.undo().catch(() => undefined);
  if (event === "compose") await session.compose({ system: "You mend code." }).catch(() => undefined);
  if (event === "compact") await session.compact().catch(() => undefined);
}
