/** Memory of a session of many images: a resume, its first epoch and an undo read them one after another. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import type { Message, NewMessage, Scope, Store } from "windrow";
import type { ReadQuery } from "windrow/store";
import type { StoredRecordOf } from "windrow/store/author";
import type { ResultContent } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { openManager } from "../kit/sessions.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const imageLength = 400_000;
const pages = 80;
const words = "The page shows an order, its price and the button that pays for it. ";

function step(number: number): readonly NewMessage[] {
  const call = { callId: `c${number}`, name: "screenshot" };
  const data = String(number)
    .padStart(8, "A")
    .repeat(imageLength / 8);
  const content: readonly ResultContent[] = [
    { type: "text", text: `Page ${number}: order number ${number * 7919}.\n${words.repeat(4)}` },
    { type: "image", mediaType: "image/png", data, width: 1280, height: 800 },
  ];
  return [
    { role: "assistant", parts: [{ type: "tool-call", ...call, args: { page: number } }] },
    { role: "tool", parts: [{ type: "tool-result", ...call, content }] },
  ];
}

function imageOf({ parts }: Message): ResultContent | undefined {
  const [part] = parts;
  const content = part?.type === "tool-result" && typeof part.content !== "string" ? part.content : [];
  return content.find(({ type }) => type === "image");
}

/** A store that gives every reader copies, and counts how many of their images are in memory at once. */
function counted(): { readonly store: Store; readonly most: () => number; readonly reset: () => void } {
  const store = ramStore();
  const given = store.read.bind(store);
  let seen: WeakRef<ResultContent>[] = [];
  let most = 0;
  let reads = 0;
  const count = async (): Promise<void> => {
    // A weak reference that was looked at holds until the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    seen = seen.filter((image) => image.deref() !== undefined);
    most = Math.max(most, seen.length);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const read = async function* (scope: Scope, id: string, query: ReadQuery<"message">): AsyncGenerator<unknown> {
    for await (const record of given(scope, id, query)) {
      if (query.kind !== "message") {
        yield record;
        continue;
      }
      const copy: StoredRecordOf<"message"> = structuredClone(record);
      const image = imageOf(copy.message);
      if (image) seen.push(new WeakRef(image));
      yield copy;
      if (++reads % 32 === 0) await count();
    }
    await count();
  };
  return {
    store: Object.assign(store, { read: read as unknown as Store["read"] }),
    most: () => most,
    reset: () => void ([seen, most] = [[], 0]),
  };
}

it.each([
  ["a resumed session opens an epoch", true, "epoch"],
  ["a resumed session undoes one", true, "undo"],
  ["a session undoes an epoch", false, "undo"],
] as const)("holds few images at once where %s", async (_what, isResumed, how) => {
  const { store, most, reset } = counted();
  const manager = await openManager({ store, strategy: "adaptive", budget: 12_000 });
  let session = await manager.create();
  await session.append("Find the order that was not paid.");
  for (let number = 0; number < pages; number++) {
    await session.append(step(number));
    await session.compose();
  }
  reset();
  if (isResumed) {
    await session.close();
    session = await manager.resume(session.id);
  }
  const { epoch } = session.stats();
  if (how === "undo") await session.undo();
  for (let number = pages; session.stats().epoch === epoch; number++) {
    await session.append(step(number));
    await session.compose();
  }
  expect(epoch).toBeGreaterThan(1);
  expect(most()).toBeGreaterThan(0);
  expect(most()).toBeLessThan(40);
});
