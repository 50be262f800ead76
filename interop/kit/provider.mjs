/**
 * A provider on this machine, for agents that are to ask a real model: chat completions, Anthropic's messages and Gemini's
 * contents. It asks for a list of the files, and then repeats the first of them.
 */
import { createServer } from "node:http";

const name = "list_files";

/** By the end of an address: the answer to a body. */
const answers = {
  "/chat/completions": ({ messages }) => {
    const { role, content } = messages.at(-1);
    const call = { id: "call-1", type: "function", function: { name, arguments: "{}" } };
    const message = role === "tool" ? { content: told(content) } : { content: null, tool_calls: [call] };
    const usage = { prompt_tokens: 9, completion_tokens: 3 };
    return { choices: [{ index: 0, message: { role: "assistant", ...message } }], usage };
  },
  "/messages": ({ messages }) => {
    const [result] = messages.at(-1).content.filter?.(({ type }) => type === "tool_result") ?? [];
    const text = { type: "text", text: told(result?.content) };
    const content = result ? text : { type: "tool_use", id: "call-1", name, input: {} };
    return { type: "message", role: "assistant", content: [content], usage: { input_tokens: 9, output_tokens: 3 } };
  },
  ":generateContent": ({ contents }) => {
    const result = contents.at(-1).parts.find((part) => part.functionResponse)?.functionResponse;
    const part = result ? { text: told(result.response) } : { functionCall: { name, args: {} } };
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3 };
    return { candidates: [{ content: { role: "model", parts: [part] } }], usageMetadata };
  },
};

/** What the provider says at the end. */
export const told = (result) => `The first file is ${/[\w.-]+\.[a-z]+/.exec(JSON.stringify(result))?.[0]}.`;

/** @returns its address, what it was sent, and its end */
export async function provider() {
  const bodies = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      const [, answer] = Object.entries(answers).find(([end]) => request.url.split("?")[0].endsWith(end)) ?? [];
      response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(answer ? answer(bodies.at(-1)) : { error: { message: request.url } }));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    bodies,
    close: () => new Promise((done) => server.close(done)),
  };
}
