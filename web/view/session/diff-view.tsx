/** The windows of two calls compared: what left, what entered, what changed, and the lines of changed texts. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { ViewerWindow, WindowEntry } from "../../../src/viewer/viewer.ts";
import { partsText } from "../../../src/viewer/page/window-text.ts";
import { fateAt } from "../../model/fates.ts";
import { count, several } from "../../model/numbers.ts";
import { plainLine } from "../../model/visible.ts";
import { differenceOf } from "../../model/window-diff.ts";
import type { ChangedEntry } from "../../model/window-diff.ts";
import { loader } from "../../state/loaded.ts";
import type { SessionState } from "../../state/session.ts";
import { Fate, Fault, MessageLink, RoleMark } from "../parts/badge.tsx";
import { TextDiff } from "../parts/text-diff.tsx";
import { kindWords } from "./entry-card.tsx";

const mostRows = 300;

/** Characters of an entry's beginning. */
const mostHead = 160;

/** The difference between the window of `other` and that of the call. */
export function DiffView({ state, other }: { readonly state: SessionState; readonly other: number }): JSX.Element {
  const pair = useMemo(() => loader<readonly [ViewerWindow, ViewerWindow]>(), [state]);
  const call = state.call.value;
  useEffect(() => {
    const options = state.row === undefined ? {} : { row: state.row };
    if (call > 0) {
      void pair.ask(() =>
        Promise.all([state.source.window(state.id, other, options), state.source.window(state.id, call, options)]),
      );
    }
  }, [state, other, call, state.retries.value]);
  const { value, error, isLoading } = pair.state.value;
  return (
    <section class="pane wide-pane" aria-label="Difference of two windows" aria-busy={isLoading}>
      <header class="pane-head">
        <h2>Difference</h2>
        <form class="inline" onSubmit={(event) => event.preventDefault()}>
          <CallField state={state} label="from call" value={other} onPick={(picked) => state.toView("diff", picked)} />
          <CallField state={state} label="to call" value={call} onPick={(picked) => state.toCall(picked, "go")} />
        </form>
      </header>
      {error === undefined || isLoading ? null : <Fault error={error} />}
      {value ? (
        <Difference state={state} before={value[0]} after={value[1]} />
      ) : (
        <p class="quiet pad">Rebuilding two windows…</p>
      )}
    </section>
  );
}

function CallField(props: {
  readonly state: SessionState;
  readonly label: string;
  readonly value: number;
  readonly onPick: (call: number) => void;
}): JSX.Element {
  return (
    <label>
      {props.label}{" "}
      <input
        type="number"
        min={1}
        max={props.state.total.value}
        value={props.value}
        onChange={(event) => {
          const picked = Number(event.currentTarget.value);
          if (picked >= 1 && picked <= props.state.total.peek()) props.onPick(picked);
        }}
      />
    </label>
  );
}

interface PairProps {
  readonly state: SessionState;
  readonly before: ViewerWindow;
  readonly after: ViewerWindow;
}

function Difference({ state, before, after }: PairProps): JSX.Element {
  const found = useMemo(() => differenceOf(before, after), [before, after]);
  const { left, entered, changed, same, prefix } = found;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What left, entered and changed">
      <p class="summary">
        {count(before.tokens)} → <b>{count(after.tokens)}</b> tokens. {several(same, "entry", "entries")} the same, of
        which the first {count(prefix)} are a common prefix. <b>{count(left.length)}</b> left,{" "}
        <b>{count(entered.length)}</b> entered, <b>{count(changed.length)}</b> changed.
      </p>
      {before.system === after.system ? null : (
        <section class="card">
          <h3>System prompt</h3>
          <TextDiff before={before.system ?? ""} after={after.system ?? ""} />
        </section>
      )}
      <Side title="Left" sign="−" state={state} entries={left} at={after} />
      <Side title="Entered" sign="+" state={state} entries={entered} />
      <section class="card">
        <h3>
          Changed <span class="quiet end">{count(changed.length)}</span>
        </h3>
        {changed.slice(0, 40).map((one, place) => (
          <Changed key={place} state={state} change={one} />
        ))}
        {changed.length > 40 ? <p class="quiet">The first 40 are shown.</p> : null}
      </section>
    </div>
  );
}

function Side(props: {
  readonly title: string;
  readonly sign: string;
  readonly state: SessionState;
  readonly entries: readonly WindowEntry[];
  /** The window that they left, for what became of them. */
  readonly at?: ViewerWindow;
}): JSX.Element {
  const { title, sign, state, entries, at } = props;
  const tokens = entries.reduce((sum, entry) => sum + entry.tokens, 0);
  return (
    <section class={`card side-${title.toLowerCase()}`}>
      <h3>
        {title}{" "}
        <span class="quiet end">
          {several(entries.length, "entry", "entries")}, {sign}
          {count(tokens)} tokens
        </span>
      </h3>
      <ul class="plain lines diff-lines">
        {entries.slice(0, mostRows).map((entry, place) => (
          <li key={place}>
            <b class="sign">{sign}</b>
            {entry.seq > 0 ? <MessageLink state={state} seq={entry.seq} to={entry.to} by="link" /> : <span>–</span>}
            <span>
              <span class={`kind tag-${entry.kind}`}>{kindWords[entry.kind]}</span>
            </span>
            <RoleMark role={entry.role} />
            <span class="row-tokens">{count(entry.tokens)}</span>
            {at && entry.seq > 0 ? <Fate fate={fateAt(at.fates, entry.seq, at.lastSeq)} /> : <span />}
            <span class="clip quiet">{plainLine(headOf(state, entry))}</span>
          </li>
        ))}
      </ul>
      {entries.length > mostRows ? <p class="quiet">The first {mostRows} are shown.</p> : null}
    </section>
  );
}

/** The beginning of an entry as it was sent: of a digest its own, not that of the first message it stands for. */
function headOf(state: SessionState, { message, seq }: WindowEntry): string {
  if (!message) return state.outline.at(seq)?.head ?? "";
  return partsText(message.parts).trimStart().slice(0, mostHead);
}

function Changed({ state, change }: { readonly state: SessionState; readonly change: ChangedEntry }): JSX.Element {
  const { before, after } = change;
  const texts = useSignal<readonly [string, string] | undefined>(undefined);
  useEffect(() => {
    let isLeft = false;
    Promise.all([textOf(state, before), textOf(state, after)]).then(
      (found) => {
        if (!isLeft) texts.value = found;
      },
      () => undefined,
    );
    return () => {
      isLeft = true;
    };
  }, [before, after]);
  return (
    <details class="change" open={after.kind === "digest" || after.kind === "summary"}>
      <summary>
        {after.seq > 0 ? `m${after.seq}${after.to && after.to !== after.seq ? `–m${after.to}` : ""}` : ""}{" "}
        <span class={`kind tag-${before.kind}`}>{kindWords[before.kind]}</span> →{" "}
        <span class={`kind tag-${after.kind}`}>{kindWords[after.kind]}</span>{" "}
        <span class="quiet">
          {count(before.tokens)} → {count(after.tokens)} tokens {after.reason ?? ""}
        </span>
      </summary>
      {after.seq > 0 ? <MessageLink state={state} seq={after.seq} by="link" /> : null}
      {texts.value ? <TextDiff before={texts.value[0]} after={texts.value[1]} /> : null}
    </details>
  );
}

async function textOf(state: SessionState, { message, seq }: WindowEntry): Promise<string> {
  const own = message ?? (await state.log.all([seq])).get(seq);
  return own ? partsText(own.parts) : "";
}
