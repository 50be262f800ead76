/** Search in the session and in all: every hit says whether it is in the window at the call, and how. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ViewerHit, ViewerSource, ViewerWindow } from "../../../src/viewer/viewer.ts";
import { fateAt } from "../../model/fates.ts";
import { several } from "../../model/numbers.ts";
import { addressOf } from "../../model/route.ts";
import { loader } from "../../state/loaded.ts";
import type { Loader } from "../../state/loaded.ts";
import { isSearchOpen } from "../../state/preferences.ts";
import type { SessionState } from "../../state/session.ts";
import { Fate, Fault, RoleMark } from "../parts/badge.tsx";
import { Visible } from "../parts/text-block.tsx";

/** The properties of a search. */
export interface SearchProps {
  readonly source: ViewerSource;
  /** The session that is open; absent on the list of sessions. */
  readonly state?: SessionState | undefined;
}

/** The panel of a search. */
export function Search({ source, state }: SearchProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const everywhere = useSignal(state === undefined);
  const words = useSignal("");
  const hits = useMemo(() => loader<readonly ViewerHit[]>(), []);
  useEffect(() => input.current?.focus(), []);
  const run = (): void => {
    const wanted = words.value.trim();
    if (wanted !== "") void hits.ask(() => source.search(wanted, everywhere.value ? undefined : state?.id));
  };
  const close = (): void => {
    isSearchOpen.value = false;
  };
  const { value, error, isLoading } = hits.state.value;
  return (
    <section class="search" role="search" aria-label="Search">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <input
          ref={input}
          id="search-words"
          type="search"
          aria-label="Words to search for"
          placeholder={everywhere.value ? "words in all sessions" : "words in this session"}
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value;
          }}
        />
        {state ? (
          <label class="check">
            <input
              type="checkbox"
              checked={everywhere.value}
              onChange={(event) => {
                everywhere.value = event.currentTarget.checked;
                run();
              }}
            />
            all sessions
          </label>
        ) : null}
        <button type="submit">search</button>
        <button type="button" onClick={close}>
          close
        </button>
      </form>
      {error === undefined || isLoading ? null : <Fault error={error} />}
      {isLoading ? <p class="quiet">Searching…</p> : null}
      {value ? <Hits source={source} state={state} hits={value} words={words.value} onClose={close} /> : null}
    </section>
  );
}

interface HitsProps extends SearchProps {
  readonly hits: readonly ViewerHit[];
  readonly words: string;
  readonly onClose: () => void;
}

const mostHits = 200;

function Hits({ source, state, hits, words, onClose }: HitsProps): JSX.Element {
  const newest = useNewestWindows(source, state, hits);
  const at = state ? ` at call ${state.call.value}` : "";
  const away =
    state && hits.every(({ sessionId }) => sessionId === state.id) ? "" : ", of another session at its newest call";
  return (
    <>
      <p class="quiet" aria-live="polite">
        {several(hits.length, "message")}; the mark says where each is{at}
        {away}.
      </p>
      <ul class="plain lines hits" aria-label="Messages found">
        {hits.slice(0, mostHits).map((hit) => {
          const isHere = state !== undefined && hit.sessionId === state.id;
          const window = isHere ? undefined : newest.get(hit.sessionId);
          const fate = isHere ? state.fateOf(hit.seq) : window && fateAt(window.fates, hit.seq, window.lastSeq);
          const call = isHere ? state.call.value : window?.call;
          const address = addressOf({
            page: "session",
            id: hit.sessionId,
            view: "window",
            ...(call && { call, seq: hit.seq }),
          });
          return (
            <li key={`${hit.sessionId} ${hit.seq}`}>
              <a
                href={address}
                onClick={(event) => {
                  if (!isHere) return;
                  event.preventDefault();
                  onClose();
                  state.select(hit.seq, "link");
                }}
              >
                m{hit.seq}
              </a>
              {fate ? <Fate fate={fate} /> : <span class="fate">–</span>}
              <RoleMark role={hit.role} />
              {isHere ? null : <code class="quiet">{hit.sessionId.slice(0, 12)}</code>}
              <span class="clip">
                <Marked text={hit.excerpt} words={words} />
              </span>
            </li>
          );
        })}
      </ul>
      {hits.length > mostHits ? <p class="quiet">The first {mostHits} are shown.</p> : null}
    </>
  );
}

/** A text with the words that were searched for marked. */
function Marked({ text, words }: { readonly text: string; readonly words: string }): JSX.Element {
  const wanted = words
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pieces = wanted.length === 0 ? [text] : text.split(new RegExp(`(${wanted.join("|")})`, "iu"));
  return (
    <>
      {pieces.map((piece, place) =>
        place % 2 === 1 ? <mark key={place}>{piece}</mark> : <Visible key={place} text={piece} />,
      )}
    </>
  );
}

const mostOthers = 8;

/** The newest windows of the other sessions with hits, the first few of them. */
function useNewestWindows(
  source: ViewerSource,
  state: SessionState | undefined,
  hits: readonly ViewerHit[],
): ReadonlyMap<string, ViewerWindow> {
  const found: Loader<ReadonlyMap<string, ViewerWindow>> = useMemo(() => loader(), []);
  useEffect(() => {
    const others = [...new Set(hits.map(({ sessionId }) => sessionId))].filter((id) => id !== state?.id);
    if (others.length === 0) return;
    void found.ask(async () => {
      const windows = new Map<string, ViewerWindow>();
      for (const id of others.slice(0, mostOthers)) {
        const { calls } = await source.session(id);
        if (calls > 0) windows.set(id, await source.window(id, calls));
      }
      return windows;
    });
  }, [hits]);
  return found.state.value.value ?? new Map();
}
