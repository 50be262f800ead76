/** The messages of a rebuilt window as entries: where each is from, and what was made of it. */
import { hashName } from "../../message/hash.ts";
import type { Message } from "../../message/message.ts";
import { isReasoning } from "../../window/provider/encode.ts";
import { countOnce } from "../../tokens/counter.ts";
import { summaryPass } from "../../window/edits.ts";
import { hashMessage } from "../../window/hash.ts";
import type { Edit } from "../../window/window.ts";
import { cutParts } from "../page/cut.ts";
import type { ViewerMessage, WindowEntry } from "../viewer.ts";
import type { Rebuilt } from "./rebuild.ts";

type Kind = WindowEntry["kind"];

/** A message of a window with its place in the log; 0 for none. */
interface Placed {
  readonly seq: number;
  readonly message: Message;
}

/** The entries of a rebuilt window, in the order in which its messages are sent. */
export function entriesOf(rebuilt: Rebuilt): readonly WindowEntry[] {
  const stubs = byMessage(rebuilt.composed.state.edits);
  const notes = new Map(rebuilt.edits.notes.map((edit) => [noteId(edit), edit]));
  return placed(rebuilt).map((one) => entryOf(one, rebuilt, stubs, notes));
}

/** The window's messages with their places: a system prompt beside the log and a closing message have none. */
function placed({ composed: { messages }, shown }: Rebuilt): readonly Placed[] {
  const hasTail = messages.at(-1)?.id === dynamicId;
  const lead = messages.length - shown.messages.length - (hasTail ? 1 : 0);
  return messages.map((message, index) => ({ seq: shown.messages[index - lead]?.seq ?? 0, message }));
}

const dynamicId = "windrow:dynamic";

function noteId({ from, to }: Edit): string {
  return `windrow:note:${from}-${to}`;
}

function byMessage(edits: readonly Edit[]): ReadonlyMap<number, readonly Edit[]> {
  const found = new Map<number, Edit[]>();
  for (const edit of edits) {
    if (edit.kind !== "stub") continue;
    const known = found.get(edit.from);
    if (known) known.push(edit);
    else found.set(edit.from, [edit]);
  }
  return found;
}

function entryOf(
  { seq, message }: Placed,
  { settings: { counter }, logged, edits }: Rebuilt,
  stubs: ReadonlyMap<number, readonly Edit[]>,
  notes: ReadonlyMap<string, Edit>,
): WindowEntry {
  const tokens = countOnce(counter, message);
  const base = { seq, role: message.role, tokens, key: hashName(hashMessage(message)) };
  const own = viewerMessage(seq, message, tokens);
  const note = notes.get(message.id);
  if (note) {
    const { pass, reason, tokensBefore, from, to } = note;
    return { ...base, seq: from, kind: noteKind(note), message: own, pass, reason, tokensBefore, to };
  }
  const block = blockKind(message.id, seq);
  if (block) return { ...base, kind: block, message: own };
  const original = logged.get(seq);
  const isLeadingSystem = message.role === "system" && original?.role === "system";
  if (original && (original === message || hashMessage(original) === hashMessage(message))) {
    return { ...base, kind: isLeadingSystem ? "system" : "message" };
  }
  const cuts = stubs.get(seq) ?? [];
  const [cut] = cuts;
  const tokensBefore = original ? { tokensBefore: countOnce(counter, original) } : {};
  // A synthetic result for a call that got none has the number of its call, and is no cut of it.
  const isOwn = original?.id === message.id;
  if (isOwn && cut) return { ...base, kind: "cut", message: own, pass: cut.pass, reason: cut.reason, ...tokensBefore };
  if (isOwn && isWithoutReasoning(original, message)) {
    const edit = edits.reasoning.find(({ from, to }) => seq >= from && seq <= to);
    const why = edit ?? { pass: "profile", reason: "the provider does not take its reasoning here" };
    return { ...base, kind: "cut", message: own, pass: why.pass, reason: why.reason, ...tokensBefore };
  }
  return { ...base, kind: "repair", message: own, pass: "repair", reason: "changed so that the window is valid" };
}

/** A message as it is sent, for a page: whole but for its media. */
function viewerMessage(seq: number, { id, role, parts, timestamp }: Message, tokens: number): ViewerMessage {
  return { seq, id, role, ...(timestamp !== undefined && { timestamp }), tokens, ...cutParts(seq, parts, Infinity) };
}

function noteKind({ pass }: Edit): Kind {
  if (pass === summaryPass) return "summary";
  return pass === "digest" ? "digest" : "note";
}

/** The kind of a message that stands for no message of the log. */
function blockKind(id: string, seq: number): Kind | undefined {
  if (id === "windrow:pinned") return "pinned";
  if (id.startsWith("windrow:insert:")) return id.includes(":dynamic:") ? "dynamic" : "insert";
  if (seq > 0) return undefined;
  if (id === "windrow:system") return "system";
  return id === dynamicId || id === "windrow:start" ? "repair" : undefined;
}

/** Whether a message is another one without its reasoning, and with nothing else changed. */
function isWithoutReasoning(original: Message, message: Message): boolean {
  const spoken = original.parts.filter((part) => !isReasoning(part));
  const shown = message.parts.filter((part) => !isReasoning(part));
  return original.role === message.role && JSON.stringify(spoken) === JSON.stringify(shown);
}
