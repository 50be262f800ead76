/** The window: the blocks of the request in order, each linked to the log, as the model got them at the call. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ViewerWindow, WindowEntry } from "../../../src/viewer/viewer.ts";
import { count, several, tokens } from "../../model/numbers.ts";
import { entryFor } from "../../model/origins.ts";
import { keyPane } from "../../state/preferences.ts";
import type { SessionState } from "../../state/session.ts";
import { Fault } from "../parts/badge.tsx";
import { List } from "../parts/list.tsx";
import type { ListHandle } from "../parts/list.tsx";
import { EntryCard } from "./entry-card.tsx";
import { MissingCard, SystemCard, ToolsCard } from "./head-cards.tsx";

/** A line of the pane: an entry of the window, or a block before them. */
type Item =
  | { readonly is: "missing" }
  | { readonly is: "system" }
  | { readonly is: "tools" }
  | { readonly is: "entry"; readonly entry: WindowEntry; readonly place: number };

/** The pane of the window at the call. */
export function WindowPane({ state }: { readonly state: SessionState }): JSX.Element {
  const { value, error, isLoading } = state.window.value;
  return (
    <section class={`pane window${isLoading ? " is-loading" : ""}`} aria-label="Window" aria-busy={isLoading}>
      <header class="pane-head">
        <h2>Window</h2>
        {value ? <WindowHead window={value} /> : null}
      </header>
      {value?.instead ? <InsteadBanner state={state} window={value} /> : null}
      {error === undefined || isLoading ? null : <Fault error={error} />}
      {value ? (
        <Entries state={state} window={value} />
      ) : (
        <p class="quiet pad">{isLoading ? "Rebuilding the window…" : ""}</p>
      )}
    </section>
  );
}

function WindowHead({ window }: { readonly window: ViewerWindow }): JSX.Element {
  const { tokens: size, budget, entries, verified, epoch } = window;
  return (
    <>
      <span>
        <b>{count(size)}</b>
        <span class="quiet">{budget === null ? " tokens, no budget" : ` of ${count(budget)} tokens`}</span>
      </span>
      <span class="quiet wide">{several(entries.length, "entry", "entries")}</span>
      {epoch === null ? null : <span class="quiet wide">epoch {epoch}</span>}
      {window.instead ? null : (
        <span
          class={`end verified ${verified.isVerified ? "is-verified" : "is-unproved"}`}
          title={
            verified.isVerified
              ? (verified.remark ?? "The rebuilt window has the hash that the call's record names.")
              : verified.problem
          }
        >
          {verified.isVerified ? "✓ verified" : "? not proved"}
        </span>
      )}
    </>
  );
}

function InsteadBanner({
  state,
  window,
}: {
  readonly state: SessionState;
  readonly window: ViewerWindow;
}): JSX.Element {
  return (
    <p class="banner">
      Never sent: composed by <b>{window.instead?.strategy}</b> at{" "}
      {window.instead?.budget === null ? "no limit" : `${tokens(window.instead?.budget)} tokens`}.
      <button
        type="button"
        class="small"
        onClick={() => {
          state.instead.value = undefined;
        }}
      >
        back to what was sent
      </button>
    </p>
  );
}

function Entries({ state, window }: { readonly state: SessionState; readonly window: ViewerWindow }): JSX.Element {
  const list = useRef<ListHandle>(null);
  const selection = state.selection.value;
  const items = useMemo(() => itemsOf(window), [window]);
  const chosen = selection ? entryFor(window, selection.seq) : -1;
  const before = items.length - window.entries.length;
  useEffect(() => {
    if (chosen === -1 || !list.current || selection?.by === "window") return;
    list.current.scrollToIndex(chosen + before, { align: "start", offset: -8 });
  }, [chosen, selection, before]);
  return (
    <List
      handle={list}
      class="entries"
      role="list"
      id="window-list"
      label={`Entries of the window of call ${window.call}`}
      data={items}
      bufferSize={300}
      onFocus={() => {
        keyPane.value = "window";
      }}
    >
      {(item) => {
        if (item.is === "missing") return <MissingCard key="missing" window={window} />;
        if (item.is === "system") return <SystemCard key="system" state={state} window={window} />;
        if (item.is === "tools") return <ToolsCard key="tools" state={state} window={window} />;
        return (
          <EntryCard
            key={`${item.entry.key}-${item.place}`}
            state={state}
            entry={item.entry}
            place={item.place}
            total={window.entries.length}
            isSelected={item.place === chosen}
            selected={selection?.seq}
          />
        );
      }}
    </List>
  );
}

function itemsOf(window: ViewerWindow): readonly Item[] {
  const { isVerified, remark } = window.verified;
  const isDoubtful = window.missing.length > 0 || remark !== undefined || (!isVerified && !window.instead);
  const hasSystem = window.entries[0]?.kind === "system";
  return [
    ...(isDoubtful ? [{ is: "missing" } as const] : []),
    ...(window.system === undefined || hasSystem ? [] : [{ is: "system" } as const]),
    ...(window.tools.length === 0 ? [] : [{ is: "tools" } as const]),
    ...window.entries.map((entry, place) => ({ is: "entry", entry, place }) as const),
  ];
}
