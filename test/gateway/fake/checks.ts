/** The checks of a request: what a real provider refuses, and what a gateway must not do though a provider takes it. */
import { hash, object } from "./json.ts";
import type { Block, Reading } from "./reading.ts";

export interface Fault {
  /** Number of the request, counted from 1. */
  readonly request: number;
  readonly conversation: string;
  readonly kind:
    | "pairing"
    | "marks"
    | "tools-changed"
    | "system-changed"
    | "first-message"
    | "prefix"
    | "broken-run"
    | "foreign-thinking"
    | "reasoning-lost"
    | "unopened-turn"
    | "signature-missing"
    | "empty"
    | "over-budget"
    | "not-json";
  readonly detail: string;
  /** The error a real provider answers with, where it does. */
  readonly refusal?: string;
}

export type Finding = Omit<Fault, "request" | "conversation">;

/**
 * Everything that one body says by itself.
 *
 * @param takesLoneReasoning - whether reasoning may be the last of it
 */
export function bodyFindings(reading: Reading, takesLoneReasoning: boolean): readonly Finding[] {
  const { api, blocks } = reading;
  return [
    ...pairingFindings(reading),
    ...markFindings(reading),
    ...orderFindings(reading),
    ...turnFindings(reading),
    ...(api === "responses" ? reasoningFindings(blocks, takesLoneReasoning) : []),
  ];
}

function pairingFindings({ api, blocks }: Reading): readonly Finding[] {
  const found: Finding[] = [];
  const open = new Map<string, number>();
  const fault = (detail: string, refusal: string): void => void found.push({ kind: "pairing", detail, refusal });
  const unanswered = (at: Block): void => {
    const [id] = open.keys();
    open.clear();
    fault(
      `message ${at.message} (${at.role}) stands between the call ${id} and its result`,
      api === "anthropic"
        ? `messages.${at.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}.`
        : `No tool output found for function call ${id}.`,
    );
  };
  for (const block of blocks) {
    if (block.kind === "call") {
      if (api !== "responses" && [...open.values()].some((message) => message !== block.message)) unanswered(block);
      if (open.has(block.id!)) fault(`the call ${block.id} is there twice`, `Duplicate tool call id ${block.id}.`);
      open.set(block.id!, block.message);
    } else if (block.kind === "result") {
      if (!open.delete(block.id!)) {
        fault(
          `the result ${block.id} in message ${block.message} has no call before it`,
          api === "anthropic"
            ? `messages.${block.message}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.id}.`
            : `No tool call found for function call output with call_id ${block.id}.`,
        );
      }
    } else if (api !== "responses" && [...open.values()].some((message) => message !== block.message)) {
      unanswered(block);
    }
  }
  for (const id of open.keys()) {
    fault(`the call ${id} has no result`, `No tool output found for function call ${id}.`);
  }
  return found;
}

function markFindings({ api, marksBefore, blocks }: Reading): readonly Finding[] {
  const marks = marksBefore + blocks.filter(({ isMarked }) => isMarked).length;
  if (api !== "anthropic" || marks <= 4) return [];
  const refusal = `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  return [{ kind: "marks", detail: `${marks} marks`, refusal }];
}

function orderFindings({ api, blocks }: Reading): readonly Finding[] {
  const found: Finding[] = [];
  const first = blocks.find(({ role }) => role !== "system" && role !== "developer");
  const isSummary = api === "responses" && first?.kind === "other";
  if (first === undefined) {
    found.push({ kind: "empty", detail: "no message", refusal: "messages: at least one message is required" });
  } else if (first.role !== "user" && !isSummary) {
    found.push({ kind: "first-message", detail: `the first message is of role ${first.role}` });
  }
  const empty = blocks.find(
    ({ kind, role, value }) => kind === "text" && value === `${role}:{"text":"","type":"text"}`,
  );
  if (empty !== undefined && api === "anthropic") {
    const refusal = "messages: text content blocks must be non-empty";
    found.push({ kind: "empty", detail: `message ${empty.message} has an empty text`, refusal });
  }
  if (api === "gemini") found.push(...signatureFindings(blocks));
  return found;
}

/** Whether the request gives the budget of thinking itself, which models take that bind no thinking to its prefix. */
function isManual({ api, body }: Reading): boolean {
  return api === "anthropic" && object(body["thinking"])["type"] === "enabled";
}

/** Manual thinking: the turn of calls at the end of a request begins with thinking. */
function turnFindings(reading: Reading): readonly Finding[] {
  const { blocks } = reading;
  const last = blocks.findLast(({ role }) => role !== "system");
  if (!isManual(reading) || last === undefined) return [];
  const results = new Set(blocks.filter(({ kind }) => kind === "result").map(({ message }) => message));
  if (!results.has(last.message)) return [];
  let first: Block | undefined;
  for (const block of blocks.toReversed()) {
    if (block.role === "assistant") first = block;
    else if (block.role !== "system" && !results.has(block.message)) break;
  }
  if (first === undefined || first.kind === "thinking") return [];
  return [unopened(first, first.kind === "call" ? "tool_use" : "text")];
}

function unopened({ message }: Block, found: string): Finding {
  const refusal =
    `messages.${message}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When ` +
    "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of " +
    "`tool_use` and `tool_result` blocks).";
  return { kind: "unopened-turn", detail: `message ${message} begins with no thinking`, refusal };
}

/** Gemini: the first call of each step of the current turn carries a signature. */
function signatureFindings(blocks: readonly Block[]): readonly Finding[] {
  const turn = blocks.findLastIndex(({ role, kind }) => role === "user" && kind === "text");
  const calls = blocks.slice(turn + 1).filter(({ kind }) => kind === "call");
  const firsts = calls.filter(({ message }, index) => calls[index - 1]?.message !== message);
  const missing = firsts.filter(({ signature }) => !signature);
  return missing.map(({ id, message }) => {
    const refusal = `Function call ${id} in the ${message}. content block is missing a thought_signature.`;
    return { kind: "signature-missing", detail: `the call ${id} has no signature`, refusal };
  });
}

/** Responses: reasoning is followed by the item that came of it. */
function reasoningFindings(blocks: readonly Block[], takesLast: boolean): readonly Finding[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1];
    if (block.kind !== "thinking" || next?.role === "assistant" || (takesLast && next === undefined)) return [];
    const refusal = "Item of type 'reasoning' was provided without its required following item.";
    return [
      { kind: "broken-run", detail: `reasoning in item ${block.message} stands alone`, refusal } satisfies Finding,
    ];
  });
}

/** What is told of a minted thinking block: the values before it, and the one that was kept last when it was minted. */
export interface Minted {
  readonly prefix: string;
  readonly before: string;
}

/**
 * For each message, the hash of everything before it, thinking itself left out: that may go. The last entry is that of a
 * message that is still to come.
 */
export function prefixes({ tools, system, blocks }: Reading): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  let chain = hash(`${tools}\n${system}`);
  let message = -1;
  for (const block of blocks) {
    if (block.message !== message) found.set(block.message, chain);
    message = block.message;
    if (block.kind !== "thinking") chain = hash(`${chain}\n${block.value}`);
  }
  return found.set(message + 1, chain);
}

export const bound =
  "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set " +
  '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

/**
 * Thinking that was kept.
 *
 * @param calls - the signature that was minted beside a call, by the call's id
 */
export function thinkingFindings(
  reading: Reading,
  minted: ReadonlyMap<string, Minted>,
  calls: ReadonlyMap<string, string>,
): readonly Finding[] {
  const { api, blocks } = reading;
  if (api !== "anthropic" && api !== "responses") return [];
  const found: Finding[] = [];
  const places = prefixes(reading);
  const add = (kind: Finding["kind"], block: Block, why: string): void => {
    const detail = `thinking in message ${block.message} ${why}`;
    // Responses drops such reasoning without an error.
    if (api === "responses") found.push({ kind: "reasoning-lost", detail });
    else found.push({ kind, detail, refusal: `messages.${block.message}.content.0: ${bound}` });
  };
  const binding = object(object(reading.body["thinking"])["block_binding"]);
  // The client asked for such blocks to be dropped without an error.
  if (binding["prefix_mismatch_behavior"] === "drop_block") return [];
  if (isManual(reading)) {
    const foreign = blocks.find(({ kind, signature = "" }) => kind === "thinking" && !minted.has(signature));
    if (foreign) add("foreign-thinking", foreign, "was not minted here");
    const call = blocks.findLast(({ role, kind }) => role === "assistant" && kind === "call");
    const own = call && calls.get(call.id!);
    // An answer that was given with thinking keeps it while its calls are the newest.
    const isThere = blocks.some(({ message, signature }) => message === call?.message && signature === own);
    if (call && own !== undefined && !isThere) found.push(unopened(call, "tool_use"));
    return found;
  }
  let previous: string | undefined;
  let gone: Block | undefined;
  for (const block of blocks) {
    if (block.kind === "call") {
      const own = calls.get(block.id!);
      if (own !== undefined && own !== previous && previous !== undefined) gone ??= block;
    }
    if (block.kind !== "thinking") continue;
    const signature = block.signature ?? "";
    const own = minted.get(signature);
    if (own === undefined) add("foreign-thinking", block, "was not minted here");
    else if (own.prefix !== places.get(block.message))
      add("prefix", block, "has another prefix than it was minted for");
    else if (previous !== undefined && own.before !== previous)
      add("broken-run", block, "does not follow the one before it");
    else if (gone !== undefined) add("broken-run", block, `is kept though that of message ${gone.message} went`);
    previous = signature;
  }
  return found;
}
