/** A loop over Gemini's own contents with Windrow: forty calls, a small budget, nothing of it kept by Windrow. */
import type { Content, Part } from "@google/genai";
import { composeWindow } from "windrow";
import type { WindowState } from "windrow";
import { fromContents, toContents } from "windrow/gemini";

/** Stands for `ai.models.generateContent({ model, contents, config: { systemInstruction } })`. */
async function generateContent(request: { contents: Content[]; systemInstruction?: Content }): Promise<Content> {
  sent.push(JSON.stringify(request).length);
  const part: Part =
    sent.length > 40
      ? { text: "Part 40 is the slowest." }
      : { functionCall: { name: "read", args: { part: sent.length } }, thoughtSignature: "c2lnbmVk" };
  return { role: "model", parts: [part] };
}

const read = (part: number): string =>
  Array.from({ length: 60 }, (_, line) => `${part}.${line}: request ${line * part} took ${line} ms`).join("\n");

const sent: number[] = [];
const system = "You find slow requests.";
const history: Content[] = [{ role: "user", parts: [{ text: "Which part of the log is the slowest?" }] }];
let state: WindowState | undefined;
for (let running = true; running;) {
  const messages = fromContents(history);
  const window = composeWindow({ messages, system, budget: 8_000, profile: "gemini", ...(state && { state }) });
  state = window.state;
  const answer = await generateContent(toContents<Content>(window.messages));
  history.push(answer);
  const call = answer.parts?.[0]?.functionCall;
  running = call !== undefined;
  const response = { result: read(Number(call?.args?.["part"])) };
  if (call) history.push({ role: "user", parts: [{ functionResponse: { name: call.name ?? "", response } }] });
}
console.log(
  `${sent.length} calls, ${JSON.stringify(history).length} characters of history, at most ${Math.max(...sent)} sent`,
);
