/** A scripted agent on the Messages API and the model behind it, which signs its thinking by what stands before it. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { Lines, Sending } from "windrow/gateway";
import { anthropicMessages, hashJson } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";
import { answered, assistant, bodyOf, requestOf, session, user } from "./stage.ts";
import type { Asked } from "./stage.ts";

type Body = { readonly messages: readonly JsonObject[]; readonly system: unknown; readonly tools: unknown };

/** The signature of thinking behind these messages, which other thinking does not change. */
function signed(body: Body, length: number): string {
  const hash = createHash("sha256").update(JSON.stringify([body.system, body.tools]));
  const request = requestOf({ ...body, messages: body.messages.slice(0, length) });
  for (const { value } of request.messages) hash.update(hashJson(anthropicMessages.withoutReasoning(value)));
  return hash.digest("hex");
}

const blocksOf = ({ content }: JsonObject): readonly JsonObject[] =>
  Array.isArray(content) ? (content as readonly JsonObject[]) : [];

/** The faults that a strict provider would find in a body. */
export function faultsOf(bytes: Buffer): readonly string[] {
  const body = JSON.parse(bytes.toString()) as Body;
  const faults: string[] = [];
  const { messages } = body;
  let thought = 0;
  let bare = -1;
  for (const [place, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const thinking = blocks.filter(({ type }) => type === "thinking");
    if (message["role"] === "assistant") {
      if (thinking.length > 0) thought++;
      else if (thought > 0) bare = place;
    }
    for (const { signature } of thinking) {
      if (signature !== signed(body, place)) faults.push(`thinking of message ${place} is bound to other messages`);
    }
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    const results = blocksOf(messages[place + 1] ?? {}).filter(({ type }) => type === "tool_result");
    const answers = results.map(({ tool_use_id: id }) => id);
    if (JSON.stringify(calls) !== JSON.stringify(answers)) faults.push(`calls of message ${place} are not answered`);
  }
  if (bare !== -1) faults.push(`thinking stands on both sides of message ${bare}`);
  const marks = bytes.toString().split('"cache_control"').length - 1;
  if (marks > 4) faults.push(`${marks} marks`);
  return faults;
}

/** The messages of a body as they are compared. */
export function hashesOf(bytes: Buffer): readonly string[] {
  return requestOf(JSON.parse(bytes.toString()) as object).messages.map(({ value }) =>
    hashJson(anthropicMessages.withoutReasoning(value)),
  );
}

export interface AgentOptions {
  readonly rounds: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly task?: string;
  readonly resultOf?: (round: number) => string;
  /** The lines of each round: they may be opened again meanwhile. */
  readonly lines: () => Lines | Promise<Lines>;
  readonly onSent?: (sending: Sending, round: number, raw: Buffer) => void | Promise<void>;
  readonly history?: JsonObject[];
}

/** Eight kilobytes that differ from round to round. */
export function resultOf(round: number): string {
  let text = "";
  for (let line = 0; text.length < 8_000; line++)
    text += `round ${round} line ${line}: ${(round * 7_919 + line * 104_729) % 999_983}\n`;
  return text;
}

export interface Run {
  readonly history: JsonObject[];
  readonly bodies: readonly Buffer[];
  readonly notes: readonly string[];
}

/** Runs an agent in the session of that name through the lines of a stage. */
export const work = (stage: Asked, rounds: number, more: Partial<AgentOptions> = {}): Promise<Run> =>
  runAgent({ rounds, headers: session, lines: () => stage.lines, ...more });

/** The user says something more, and the agent goes on. */
export function goOn(
  stage: Asked,
  history: JsonObject[],
  rounds: number,
  more: Partial<AgentOptions> = {},
): Promise<Run> {
  history.push(user(more.task ?? "Go on."));
  return work(stage, rounds, { history, ...more });
}

/** Runs an agent through lines, and fails where a strict provider would refuse what was sent. */
export async function runAgent(options: AgentOptions): Promise<Run> {
  const history = options.history ?? [user(options.task ?? "Find the largest number in all files.")];
  const bodies: Buffer[] = [];
  const notes: string[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const lines = await options.lines();
    const body = bodyOf(marked(history));
    const request = requestOf(body, options.headers);
    const sending = await lines.send(request, options.tenant ?? "tenant-a");
    await options.onSent?.(sending, round, request.call.body);
    bodies.push(sending.body);
    notes.push(sending.note);
    expect(faultsOf(sending.body), `round ${round}`).toEqual([]);
    const sent = JSON.parse(sending.body.toString()) as Body;
    const thinking = {
      type: "thinking",
      thinking: `Thoughts of ${round}.`,
      signature: signed(sent, sent.messages.length),
    };
    const call = { type: "tool_use", id: `toolu_${history.length}`, name: "read", input: { path: `src/${round}.txt` } };
    const said = { type: "text", text: round === options.rounds ? "Done." : `Step ${round}.` };
    const content = round === options.rounds ? [thinking, said] : [thinking, said, call];
    await sending.keep(answered(content));
    history.push(assistant(content));
    if (round < options.rounds) {
      history.push(
        user([{ type: "tool_result", tool_use_id: call.id, content: (options.resultOf ?? resultOf)(round) }]),
      );
    }
  }
  return { history, bodies, notes };
}

/** The history with a mark of the cache on its last message, as agents move it. */
function marked(history: readonly JsonObject[]): readonly JsonObject[] {
  return history.map((message, place) => {
    if (place !== history.length - 1) return message;
    const { content } = message;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly JsonObject[]);
    return {
      ...message,
      content: blocks.map((block, at) =>
        at === blocks.length - 1 ? { ...block, cache_control: { type: "ephemeral" } } : block,
      ),
    };
  });
}
