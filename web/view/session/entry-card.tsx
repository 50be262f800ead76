/** One entry of a window: its kind, its tokens, the messages that it stands for, and its text as it was sent. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { ViewerMessage, WindowEntry } from "../../../src/viewer/viewer.ts";
import { count } from "../../model/numbers.ts";
import { isLabelled } from "../../model/origins.ts";
import type { SessionState } from "../../state/session.ts";
import { Fault, MessageLink, RoleMark } from "../parts/badge.tsx";
import { MessageParts } from "../parts/message-parts.tsx";
import { useMessage } from "./detail.tsx";
import { DigestLines } from "./digest-lines.tsx";

/** The kinds of entries in words. */
export const kindWords: Readonly<Record<WindowEntry["kind"], string>> = {
  message: "message",
  cut: "cut",
  digest: "digest",
  summary: "summary",
  note: "note",
  pinned: "pinned",
  insert: "insert",
  dynamic: "dynamic",
  repair: "mended",
  system: "system",
};

/** The properties of an entry. */
export interface EntryCardProps {
  readonly state: SessionState;
  readonly entry: WindowEntry;
  readonly place: number;
  readonly total: number;
  readonly isSelected: boolean;
  /** The message that is selected in the page. */
  readonly selected: number | undefined;
}

/** The card of an entry. */
export function EntryCard({ state, entry, place, total, isSelected, selected }: EntryCardProps): JSX.Element {
  const comparing = useSignal(false);
  const { seq, role, kind, tokens, tokensBefore, pass, reason } = entry;
  const differs = entry.message !== undefined && seq > 0 && !isLabelled(entry) && kind !== "pinned";
  const choose = (): void => {
    if (seq > 0 && !isLabelled(entry)) state.select(seq, "window");
  };
  return (
    <div
      class={`entry kind-${kind}${isSelected ? " is-selected" : ""}`}
      role="listitem"
      aria-setsize={total}
      aria-posinset={place + 1}
      id={`entry-${place}`}
    >
      <header class="entry-head" onClick={choose}>
        <span class={`kind tag-${kind}`}>{kindWords[kind]}</span>
        <RoleMark role={role} />
        {seq > 0 ? <MessageLink state={state} seq={seq} to={entry.to} /> : null}
        {pass || reason ? (
          <span class="quiet clip" title={reason}>
            {[pass, reason].filter((text) => text).join(": ")}
          </span>
        ) : null}
        <span class="quiet end">
          {tokensBefore === undefined || tokensBefore === tokens ? "" : `${count(tokensBefore)} → `}
          {count(tokens)} tokens
        </span>
        {differs ? (
          <button
            type="button"
            class="small"
            aria-pressed={comparing.value}
            onClick={(event) => {
              event.stopPropagation();
              comparing.value = !comparing.value;
            }}
          >
            beside the log
          </button>
        ) : null}
      </header>
      {comparing.value ? (
        <div class="compare">
          <div>
            <h4>in the log</h4>
            <LoggedParts state={state} seq={seq} name={`raw/${seq}`} />
          </div>
          <div>
            <h4>as sent</h4>
            <EntryText state={state} entry={entry} selected={selected} />
          </div>
        </div>
      ) : (
        <EntryText state={state} entry={entry} selected={selected} />
      )}
    </div>
  );
}

function EntryText(props: Pick<EntryCardProps, "state" | "entry" | "selected">): JSX.Element {
  const { state, entry, selected } = props;
  const { message, origins } = entry;
  if (!message) return <LoggedParts state={state} seq={entry.seq} name={`log/${entry.seq}`} />;
  const text = origins && origins.length > 0 ? soleText(message) : undefined;
  if (text !== undefined) return <DigestLines {...{ state, text, selected }} entry={entry} origins={origins ?? []} />;
  return <MessageParts state={state} message={message} name={`sent/${entry.key}`} />;
}

function LoggedParts(props: {
  readonly state: SessionState;
  readonly seq: number;
  readonly name: string;
}): JSX.Element {
  const { value, error } = useMessage(props.state, props.seq);
  if (error !== undefined) return <Fault error={error} />;
  if (!value) return <p class="quiet waiting">m{props.seq}…</p>;
  return <MessageParts state={props.state} message={value} name={props.name} />;
}

/** The text of a message that is one text and nothing else. */
function soleText({ parts, cut }: ViewerMessage): string | undefined {
  const [part] = parts;
  return parts.length === 1 && part?.type === "text" && !cut ? part.text : undefined;
}
