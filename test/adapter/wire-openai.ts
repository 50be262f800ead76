/** The chat-completions API's rules for a request's messages, each refused with 400, as a list of what is broken. */

const fields: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content", "name"],
  developer: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations"],
  tool: ["role", "content", "tool_call_id"],
  function: ["role", "content", "name"],
};

const blockTypes: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
  function: [],
};

interface Wire {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** What the API would refuse. */
export function openaiProblems(messages: readonly unknown[]): readonly string[] {
  const problems: string[] = [];
  let open: readonly string[] = [];
  let openFunction: string | undefined;
  (messages as readonly Wire[]).forEach((message, index) => {
    const bad = (what: string): void => void problems.push(`message ${index} (${message.role}): ${what}`);
    const known = fields[message.role];
    if (!known) return bad("unknown role");
    for (const key of Object.keys(message)) if (!known.includes(key)) bad(`unknown field ${key}`);
    if (/\\ud[89a-f]../.test(JSON.stringify(message))) bad("half a surrogate pair");
    const calls = (message["tool_calls"] ?? []) as readonly Call[];
    const answered = message.role === "tool" || message.role === "function";
    if (!answered && open.length > 0) bad(`calls ${open.join(", ")} are not answered before it`);
    if (!answered && openFunction !== undefined) bad(`function ${openFunction} is not answered before it`);
    if (message.role === "tool") {
      const id = message["tool_call_id"] as string;
      if (!open.includes(id)) bad(`answers ${id}, which no call of the last assistant message has`);
      open = open.filter((one) => one !== id);
    } else if (message.role === "function") {
      if (message["name"] !== openFunction) bad("answers no function_call of the last assistant message");
      openFunction = undefined;
    } else open = [];
    if (message.role === "assistant") {
      open = calls.map((call) => call.id);
      openFunction = (message["function_call"] as { name: string } | undefined)?.name;
      if ("tool_calls" in message && calls.length === 0) bad("tool_calls is empty");
      for (const call of calls) checkCall(call, bad);
    }
    checkContent(message, calls.length > 0 || openFunction !== undefined, bad);
  });
  if (open.length > 0 || openFunction !== undefined) problems.push("the last calls are not answered");
  if (new Set(ids(messages)).size !== ids(messages).length) problems.push("a call id stands twice");
  return problems;
}

interface Call {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: unknown };
  readonly custom?: { readonly name: string; readonly input: unknown };
}

function ids(messages: readonly unknown[]): readonly string[] {
  return (messages as readonly Wire[]).flatMap((one) =>
    ((one["tool_calls"] ?? []) as readonly Call[]).map(({ id }) => id),
  );
}

function checkCall(call: Call, bad: (what: string) => void): void {
  if (typeof call.id !== "string" || call.id === "" || call.id.length > 40) bad(`call id ${call.id}`);
  const inner = call.type === "custom" ? call.custom : call.function;
  const text = call.type === "custom" ? call.custom?.input : call.function?.arguments;
  if (!inner || !/^[a-zA-Z0-9_-]{1,64}$/.test(inner.name)) bad(`tool name ${inner?.name}`);
  if (typeof text !== "string") return bad("arguments are no text");
  if (call.type === "custom") return;
  try {
    JSON.parse(text);
  } catch {
    bad("arguments are no JSON, on which some servers fail");
  }
}

function checkContent(message: Wire, called: boolean, bad: (what: string) => void): void {
  const { content, role } = message;
  if (Array.isArray(content)) {
    if (content.length === 0) bad("content is an empty array");
    for (const block of content as readonly { type: string; text?: string }[]) {
      if (!blockTypes[role]?.includes(block.type)) bad(`a ${block.type} block`);
      if (block.type === "text" && (block.text ?? "").trim() === "") bad("an empty text block");
    }
  } else if (typeof content !== "string") {
    if (role !== "assistant") bad("content is no text");
    else if (!called && !message["refusal"] && !message["audio"]) bad("neither content nor calls");
  } else if (content === "" && role !== "tool" && role !== "function" && !called) bad("empty content");
}
