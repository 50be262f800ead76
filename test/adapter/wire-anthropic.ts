/** The Messages API's rules for a request, each refused with 400, as a list of what is broken. */
import type { AnthropicMessage, AnthropicRequest } from "windrow/anthropic";

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

const blockTypes: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image", "document", "search_result", "tool_result", "container_upload"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result"],
  result: ["text", "image", "document", "search_result", "tool_reference", "browser_state"],
};

const blockFields: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "citations", "cache_control"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input", "cache_control", "caller", "toolset_name"],
  tool_result: ["tool_use_id", "content", "is_error", "cache_control", "toolset_name"],
  image: ["source", "cache_control", "transformations"],
  document: ["source", "title", "context", "citations", "cache_control"],
};

/** What the API would refuse: results stand in the very next message, although it would join two of the user's. */
export function anthropicProblems({ system, messages }: AnthropicRequest<AnthropicMessage>): readonly string[] {
  const problems: string[] = [];
  for (const block of system ?? [])
    if (block.type !== "text" || block.text.trim() === "") problems.push("system block");
  let open: readonly string[] = [];
  const seen = new Set<string>();
  messages.forEach((message, index) => {
    const bad = (what: string): void => void problems.push(`message ${index} (${message.role}): ${what}`);
    for (const key of Object.keys(message)) if (key !== "role" && key !== "content") bad(`unknown field ${key}`);
    const types = blockTypes[message.role];
    if (!types) return bad("unknown role");
    if (index === 0 && message.role !== "user") bad("the first message is not the user's");
    if (/\\ud[89a-f]../.test(JSON.stringify(message))) bad("half a surrogate pair");
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) bad("no content");
    for (const block of blocks) checkBlock(block, types, bad);
    const results = blocks
      .filter((block) => block.type === "tool_result")
      .map((block) => block["tool_use_id"] as string);
    const first = blocks.slice(0, results.length).every((block) => block.type === "tool_result");
    if (!first) bad("a tool_result stands behind other content");
    for (const id of results) if (!open.includes(id)) bad(`tool_result ${id} answers no call of the message before`);
    const left = open.filter((id) => !results.includes(id));
    if (left.length > 0) bad(`${left.join(", ")} without tool_result right after`);
    if (new Set(results).size !== results.length) bad("a call is answered twice");
    open = blocks.filter((block) => block.type === "tool_use").map((block) => block["id"] as string);
    for (const id of open) {
      if (seen.has(id)) bad(`tool_use id ${id} stands twice`);
      seen.add(id);
    }
  });
  if (open.length > 0) problems.push("the last calls are not answered");
  return problems;
}

function blocksOf(content: unknown): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Block[]);
}

function checkBlock(block: Block, types: readonly string[], bad: (what: string) => void): void {
  if (!types.includes(block.type)) return bad(`a ${block.type} block`);
  const known = blockFields[block.type];
  for (const key of Object.keys(block))
    if (known && key !== "type" && !known.includes(key)) bad(`${block.type}.${key}`);
  if (block.type === "text" && String(block["text"]).trim() === "") bad("an empty text block");
  if (block.type === "thinking" && typeof block["signature"] !== "string") bad("thinking without its signature");
  if (block.type === "tool_use") {
    const { id, name, input } = block;
    if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id)) bad(`tool_use id ${String(id)}`);
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) bad(`tool name ${String(name)}`);
    if (typeof input !== "object" || input === null || Array.isArray(input)) bad("input is no object");
  }
  if (block.type !== "tool_result" || typeof block["content"] === "string" || block["content"] === undefined) return;
  for (const item of block["content"] as readonly Block[]) checkBlock(item, blockTypes["result"] ?? [], bad);
}
