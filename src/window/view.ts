/** The view: the log's steps with the edits of an epoch applied. */
import { messageText } from "../message/message.ts";
import type { Message, Part, ToolResultPart } from "../message/message.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import { countMessage } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Profile } from "./provider/profile.ts";
import { encodeFor } from "./provider/encode.ts";
import type { Edit, Insert, ViewStep } from "./window.ts";

/** Edits, looked up by message. */
export class EditIndex {
  /** The stretches of the log that left the window whole, in order. */
  readonly ranges: readonly Edit[];
  readonly #stubs = new Map<number, Edit[]>();
  readonly #reasoning: readonly Edit[];
  /** The edits that leave a labelled message, by `from`. */
  readonly notes: readonly Edit[];

  constructor(edits: readonly Edit[]) {
    const ordered = edits.toSorted((left, right) => left.from - right.from);
    this.ranges = ordered.filter((edit) => edit.kind !== "stub" && edit.only === undefined);
    this.#reasoning = ordered.filter((edit) => edit.only === "reasoning");
    this.notes = ordered.filter((edit) => edit.kind === "replace");
    for (const edit of ordered) {
      if (edit.kind !== "stub") continue;
      const stubs = this.#stubs.get(edit.from);
      if (stubs) stubs.push(edit);
      else this.#stubs.set(edit.from, [edit]);
    }
  }

  /** Whether a message left the window whole. */
  covers(seq: number): boolean {
    return this.rangeOf(seq) !== undefined;
  }

  /** The edit by which a message left the window whole. */
  rangeOf(seq: number): Edit | undefined {
    let low = 0;
    let high = this.ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const edit = this.ranges[middle];
      if (!edit) return undefined;
      if (seq < edit.from) high = middle - 1;
      else if (seq > edit.to) low = middle + 1;
      else return edit;
    }
    return undefined;
  }

  /** A message as the edits show it. */
  apply(seq: number, message: Message): Message {
    const stubs = this.#stubs.get(seq);
    const bare = this.#reasoning.some((edit) => seq >= edit.from && seq <= edit.to);
    if (!stubs && !bare) return message;
    let changed = false;
    const parts: Part[] = [];
    for (const part of message.parts) {
      if (bare && part.type === "reasoning") {
        changed = true;
        continue;
      }
      const stub =
        part.type === "tool-result"
          ? stubs?.find((edit) => edit.callId === undefined || edit.callId === part.callId)
          : undefined;
      if (stub && part.type === "tool-result") {
        changed = true;
        parts.push(stubPart(part, stub));
      } else parts.push(part);
    }
    return changed ? { ...message, parts } : message;
  }
}

const stubParts = new WeakMap<ToolResultPart, Edit>();

function stubPart(part: ToolResultPart, edit: Edit): ToolResultPart {
  const stub = { ...part, content: edit.text ?? "" };
  stubParts.set(stub, edit);
  return stub;
}

/** Whether an edit wrote a result's text; a tool's own text may look the same. */
export function isStub(part: ToolResultPart): boolean {
  return stubParts.has(part);
}

/** The pass whose edit wrote a result's text; undefined for a tool's own text. */
export function stubPass(part: ToolResultPart): string | undefined {
  return stubParts.get(part)?.pass;
}

const counts = new WeakMap<TokenCounter, WeakMap<Message, number>>();

/** Tokens of a message, counted once for as long as it lives. */
export function tokensOf(counter: TokenCounter, message: Message): number {
  let known = counts.get(counter);
  if (!known) counts.set(counter, (known = new WeakMap()));
  let tokens = known.get(message);
  if (tokens === undefined) known.set(message, (tokens = countMessage(counter, message)));
  return tokens;
}

/** A step as it stands in the window, or undefined where nothing of it is left to send. */
export function viewStep(step: Step, edits: EditIndex, profile: Profile, counter: TokenCounter): ViewStep | undefined {
  const messages: NumberedMessage[] = [];
  let from = Infinity;
  let to = -Infinity;
  for (const numbered of step.messages) {
    const { seq, message } = numbered;
    if (seq < from) from = seq;
    if (seq > to) to = seq;
    const shown = encodeFor(profile, edits.apply(seq, message));
    if (shown.parts.every((part) => part.type === "reasoning")) continue;
    messages.push(shown === message ? numbered : { seq, message: shown });
  }
  if (messages.length === 0) return undefined;
  const same = messages.length === step.messages.length && messages.every((one, at) => one === step.messages[at]);
  const tokens = sumTokens(counter, messages);
  return {
    kind: step.kind,
    from,
    to,
    messages: same ? step.messages : messages,
    tokens,
    logTokens: same ? tokens : sumTokens(counter, step.messages),
    protected: false,
  };
}

const noteMessages = new WeakMap<object, Message>();

/** What makes an edit's labelled message. */
type NoteEdit = Pick<Edit, "from" | "to" | "role" | "text" | "digest">;

/** The message an edit leaves: one object for as long as the edit or its digest lives, to be counted and hashed once. */
function noteMessage(edit: NoteEdit, profile: Profile): Message {
  const role = edit.role === "system" && profile.rules.systemFirst ? "user" : (edit.role ?? "user");
  const id = `windrow:note:${edit.from}-${edit.to}`;
  const text = edit.text ?? "";
  const known = noteMessages.get(edit.digest ?? edit);
  if (known?.role === role && known.id === id && messageText(known) === text) return known;
  const message: Message = { id, role, status: "synthetic", parts: [{ type: "text", text }] };
  noteMessages.set(edit.digest ?? edit, message);
  return message;
}

/** Tokens of the labelled message that an edit leaves. */
export function noteTokens(edit: NoteEdit, profile: Profile, counter: TokenCounter): number {
  return tokensOf(counter, noteMessage(edit, profile));
}

/** The labelled message that an edit leaves, as a step of the view. */
export function noteStep(edit: Edit, profile: Profile, counter: TokenCounter): ViewStep {
  const message = noteMessage(edit, profile);
  const messages = [{ seq: edit.from, message }];
  const tokens = sumTokens(counter, messages);
  return {
    kind: "note",
    from: edit.from,
    to: edit.to,
    messages,
    tokens,
    logTokens: edit.tokensBefore,
    protected: false,
    edit,
  };
}

/** What was inserted since the epoch opened, as a step of the view. */
export function insertStep({ after, id, text }: Insert, counter: TokenCounter): ViewStep {
  const message: Message = {
    id: `windrow:insert:${after}:${id}`,
    role: "user",
    status: "synthetic",
    parts: [{ type: "text", text }],
  };
  const messages = [{ seq: after, message }];
  const tokens = sumTokens(counter, messages);
  return { kind: "insert", from: after, to: after, messages, tokens, logTokens: 0, protected: true };
}

/** Tokens of several messages together. */
export function sumTokens(counter: TokenCounter, messages: readonly NumberedMessage[]): number {
  let total = 0;
  for (const { message } of messages) total += tokensOf(counter, message);
  return total;
}
