/** A loop over the Responses API's own items with Windrow: forty calls, a small budget, nothing of it kept by Windrow. */
import type OpenAI from "openai";
import { composeWindow } from "windrow";
import type { WindowState } from "windrow";
import { fromResponses, toResponses } from "windrow/responses";

type Item = OpenAI.Responses.ResponseInputItem;

/** Stands for `client.responses.create({ model, store: false, include: ["reasoning.encrypted_content"], ...request })`. */
async function create(request: { instructions?: string; input: Item[] }): Promise<{ output: Item[] }> {
  sent.push(JSON.stringify(request).length);
  const id = sent.length;
  const reasoning: Item = { type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: "c2VhbGVk" };
  const content = "Part 40 is the slowest.";
  if (id > 40) return { output: [reasoning, { role: "assistant", content }] };
  const call: Item = {
    type: "function_call",
    call_id: `c${id}`,
    name: "read",
    arguments: JSON.stringify({ part: id }),
  };
  return { output: [reasoning, call] };
}

const read = (part: number): string =>
  Array.from({ length: 60 }, (_, line) => `${part}.${line}: request ${line * part} took ${line} ms`).join("\n");

const sent: number[] = [];
const system = "You find slow requests.";
const items: Item[] = [{ role: "user", content: "Which part of the log is the slowest?" }];
let state: WindowState | undefined;
for (let running = true; running;) {
  const messages = fromResponses(items);
  const profile = "openai-responses";
  const window = composeWindow({ messages, system, budget: 8_000, profile, ...(state && { state }) });
  state = window.state;
  const { output } = await create(toResponses<Item>(window.messages));
  items.push(...output);
  running = false;
  for (const item of output) {
    if (item.type !== "function_call") continue;
    running = true;
    const { part } = JSON.parse(item.arguments) as { part: number };
    items.push({ type: "function_call_output", call_id: item.call_id, output: read(part) });
  }
}
console.log(
  `${sent.length} calls, ${JSON.stringify(items).length} characters of history, at most ${Math.max(...sent)} sent`,
);
