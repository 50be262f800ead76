/** The state of a conversation that an earlier process wrote: from the record of its newest epoch, and its log. */
import type { Message } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { EpochData } from "../../window/epoch/record.ts";
import type { ConversationState } from "./state.ts";

/** Messages that are looked at for the task where the record of the epoch does not name it, as in older versions. */
const mostBeforeTask = 64;

/** Gives a message as the process was given it that wrote it. */
type Given = (record: StoredRecordOf<"message">) => Message;

/** Restores the state as it was when the epoch's line was written, with the task, which the record names by its message alone. */
export async function restoreConversation(
  { id, store, scope }: { readonly id: string; readonly store: Store; readonly scope: Scope },
  conversation: ConversationState,
  epoch: EpochData,
  given: Given,
): Promise<void> {
  const { through = epoch.state.opened } = epoch;
  if (epoch.conversation) conversation.restore(epoch.conversation);
  const { goal, taskSeq: seq } = conversation;
  if (through === 0 || goal.original) return;
  const some = seq === undefined ? { to: through, limit: mostBeforeTask } : { from: seq, to: seq };
  for await (const record of store.read(scope, id, { kind: "message", originals: true, ...some })) {
    conversation.begin(record.seq, given(record));
    if (conversation.goal.original) return;
  }
}

/** Restores the snapshot, which no epoch's line has. */
export async function restoreSnapshot(
  { id, store, scope }: { readonly id: string; readonly store: Store; readonly scope: Scope },
  conversation: ConversationState,
): Promise<void> {
  const snapshots = store.read(scope, id, { kind: "snapshot", originals: true, last: 1 });
  for await (const record of snapshots) conversation.apply(record);
}

/** Asks once for a masked message: whoever has the originals may have to look for them. */
export function askingOnce(original: Given): Given {
  const known = new Map<number, Message>();
  return (record) => {
    if (record.message.masks === undefined) return original(record);
    const message = known.get(record.seq) ?? original(record);
    known.set(record.seq, message);
    return message;
  };
}
