/** A Messages API on this machine: it plays the content of its answers in order, and keeps what it was sent. */
import { createServer } from "node:http";

/**
 * @param script - the content of each answer
 * @returns its address, the requests with their headers, and its end
 */
export async function messagesServer(script) {
  const requests = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      requests.push({ ...JSON.parse(text), headers: request.headers });
      const content = script[requests.length - 1];
      const calls = content.some(({ type }) => type === "tool_use");
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          id: `msg_${requests.length}`,
          type: "message",
          role: "assistant",
          model: "claude-opus-4-6",
          content,
          stop_reason: calls ? "tool_use" : "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 3 },
        }),
      );
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => new Promise((done) => server.close(done)),
  };
}

/** The results of tools that requests carry, each once, as their texts and whether each is marked as an error. */
export function resultsIn(requests) {
  const results = new Map();
  const contents = requests.flatMap(({ messages }) => messages.map(({ content }) => content));
  for (const block of contents.filter(Array.isArray).flat()) {
    if (block.type !== "tool_result") continue;
    const text = typeof block.content === "string" ? block.content : block.content[0].text;
    results.set(block.tool_use_id, { text, isError: block.is_error === true });
  }
  return [...results.values()];
}
