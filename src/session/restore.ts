/** The state of a session that an earlier process wrote, read from its log. */
import type { Message } from "../message/message.ts";
import type { StoredRecordOf } from "../message/record.ts";
import { Turns } from "../turns.ts";
import type { Appender } from "./appender.ts";
import type { SessionContext, SessionOptions } from "./context.ts";
import type { Epochs } from "./epochs.ts";
import { originalOf, shownRecords, usagesBehind } from "./log.ts";
import type { NewestEdits, Originals } from "./log.ts";
import type { ConversationState } from "./state/state.ts";

/** Messages that are looked at for the task where the record of the epoch does not name it, as in older versions. */
const mostBeforeTask = 64;

/** The parts of a session that are restored. */
interface Restored {
  readonly context: SessionContext;
  readonly options: Pick<SessionOptions, "conversation" | "meter" | "check">;
  readonly epochs: Epochs;
  readonly appender: Appender;
}

/** Gives a message as the process was given it that wrote it. */
type Given = (record: StoredRecordOf<"message">) => Message;

/** Reads the messages of the window and those behind its epoch, and what the records say beside them. */
export async function restoreSession(
  { context, options, epochs, appender }: Restored,
  { epoch, base, later, pos }: NewestEdits,
  originals?: Originals,
): Promise<void> {
  const { id, store, scope } = context;
  const { conversation, meter, check } = options;
  const given = givenBy((record) => originalOf(record, originals, check));
  const opened = epoch?.state.opened ?? 0;
  appender.counted(opened, epoch?.historyTokens ?? 0);
  if (epoch) epochs.resumed(epoch, base, given);
  if (epoch?.conversation) conversation.restore(epoch.conversation);
  await restoreTask(context, conversation, opened, given);
  for (const record of later) conversation.apply(record);
  for await (const record of store.read(scope, id, { kind: "snapshot", last: 1 })) conversation.apply(record);
  meter.resumed(await usagesBehind(store, scope, id, pos));
  const turns = new Turns();
  for await (const record of shownRecords(store, scope, id, epoch)) {
    await turns.turn();
    const shown = epochs.restore(record, given(record));
    if (record.seq <= opened) continue;
    appender.counted(record.seq, record.tokenCount);
    conversation.push(record.seq, shown, record.message.masks);
  }
  if (!conversation.wantsAll) return;
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    conversation.watch(seq, message);
    await turns.turn();
  }
}

/** The user's first message stands before the epoch, and its record names it alone, or not at all. */
async function restoreTask(
  { id, store, scope }: SessionContext,
  conversation: ConversationState,
  opened: number,
  given: Given,
): Promise<void> {
  const { goal, taskSeq: seq } = conversation;
  if (opened === 0 || goal.original) return;
  const some = seq === undefined ? { to: opened, limit: mostBeforeTask } : { from: seq, to: seq };
  for await (const record of store.read(scope, id, { kind: "message", ...some })) {
    conversation.begin(record.seq, given(record));
    if (conversation.goal.original) return;
  }
}

/** Asks once for a masked message: whoever has the originals may have to look for them. */
function givenBy(original: Given): Given {
  const known = new Map<number, Message>();
  return (record) => {
    if (record.message.masks === undefined) return original(record);
    const message = known.get(record.seq) ?? original(record);
    known.set(record.seq, message);
    return message;
  };
}
