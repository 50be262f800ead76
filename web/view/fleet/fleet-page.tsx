/** The sessions of a store, a page of them at a time, with filters by status and text. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { ListedSession, SessionPage, ViewerSource } from "../../../src/viewer/viewer.ts";
import { compact, count, dollars, moment, several } from "../../model/numbers.ts";
import { groupedLines } from "../../model/requests.ts";
import { addressOf } from "../../model/route.ts";
import { plainLine } from "../../model/visible.ts";
import { loader } from "../../state/loaded.ts";
import { isHelpOpen, isSearchOpen } from "../../state/preferences.ts";
import { Fault, StatusMark } from "../parts/badge.tsx";
import { Search } from "../session/search.tsx";

const statuses = [
  "initializing",
  "processing",
  "compressing",
  "closed",
  "completing",
  "completed",
  "failed",
  "timeout",
];
const pageSize = 50;

/** The page of all sessions. */
export function FleetPage({ source }: { readonly source: ViewerSource }): JSX.Element {
  const status = useSignal("");
  const text = useSignal("");
  const before = useSignal<readonly (string | undefined)[]>([undefined]);
  const page = useMemo(() => loader<SessionPage>(), [source]);
  const after = before.value.at(-1);
  useEffect(() => {
    void page.ask(() =>
      source.sessions({
        limit: pageSize,
        ...(after !== undefined && { after }),
        ...(status.value && { status: status.value }),
        ...(text.value.trim() && { text: text.value.trim() }),
      }),
    );
  }, [source, after, status.value, text.value]);
  useEffect(startFleetKeys, []);
  const { value, error, isLoading } = page.state.value;
  const first = (): void => {
    before.value = [undefined];
  };
  return (
    <main class="fleet" aria-busy={isLoading}>
      <header class="pane-head">
        <h1>Sessions</h1>
        <label>
          state{" "}
          <select
            value={status.value}
            onChange={(event) => {
              status.value = event.currentTarget.value;
              first();
            }}
          >
            <option value="">any</option>
            {statuses.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          with{" "}
          <input
            type="search"
            placeholder="words of id, title or model"
            value={text.value}
            onChange={(event) => {
              text.value = event.currentTarget.value;
              first();
            }}
          />
        </label>
        <button
          type="button"
          title="search in all sessions (/)"
          aria-expanded={isSearchOpen.value}
          onClick={() => {
            isSearchOpen.value = !isSearchOpen.value;
          }}
        >
          search in messages
        </button>
        <span class="quiet end" aria-live="polite">
          {value ? `${several(value.sessions.length, "session")} on page ${before.value.length}` : "…"}
        </span>
      </header>
      {isSearchOpen.value ? <Search source={source} /> : null}
      {error === undefined ? null : <Fault error={error} />}
      {value ? <Sessions page={value} /> : null}
      <nav class="pages" aria-label="Pages of sessions">
        <button
          type="button"
          disabled={before.value.length < 2}
          onClick={() => {
            before.value = before.value.slice(0, -1);
          }}
        >
          newer
        </button>
        <button
          type="button"
          disabled={value?.next === undefined}
          onClick={() => {
            if (value?.next !== undefined) before.value = [...before.value, value.next];
          }}
        >
          older
        </button>
      </nav>
    </main>
  );
}

function Sessions({ page }: { readonly page: SessionPage }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table of sessions">
      {page.sessions.length === 0 ? (
        <p class="quiet pad">
          {page.next === undefined
            ? "No session fits."
            : `None of the ${count(page.looked)} sessions looked at fits. "older" looks on.`}
        </p>
      ) : null}
      <table class="table sessions" hidden={page.sessions.length === 0}>
        <thead>
          <tr>
            <th scope="col">session</th>
            <th scope="col">status</th>
            <th scope="col" class="model">
              model
            </th>
            <th scope="col">strategy</th>
            <th scope="col" class="number">
              calls
            </th>
            <th scope="col" class="number wide">
              tool calls
            </th>
            <th scope="col" class="number">
              epochs
            </th>
            <th scope="col" class="number">
              used
            </th>
            <th scope="col" class="number">
              window
            </th>
            <th scope="col" class="number">
              cost
            </th>
            <th scope="col" class="wide">
              user
            </th>
            <th scope="col">updated</th>
          </tr>
        </thead>
        <tbody>
          {groupedLines(page.sessions).map((session) => (
            <SessionLine key={session.id} session={session} isNext={session.isNext === true} />
          ))}
        </tbody>
      </table>
      {page.unreadable.map(({ id, message }) => (
        <p key={id} class="fault">
          <code>{id}</code> {message}
        </p>
      ))}
    </div>
  );
}

function SessionLine(props: { readonly session: ListedSession; readonly isNext: boolean }): JSX.Element {
  const { session, isNext } = props;
  const { id, title, status, error, line } = session;
  return (
    <tr>
      <th scope="row">
        <a href={addressOf({ page: "session", id, view: line ? "requests" : "window" })}>
          {isNext ? <span class="quiet">└ </span> : null}
          <span class="clip">{plainLine(title) || "no title"}</span>
          <code class="quiet">{id}</code>
        </a>
      </th>
      <td>
        <StatusMark status={status} standing={session.standing} />
        {error === null ? null : (
          <span class="fault clip" title={plainLine(error)}>
            {plainLine(error)}
          </span>
        )}
      </td>
      <td class="model">{plainLine(session.model ?? "–")}</td>
      <td>{plainLine(session.strategy ?? "–")}</td>
      <td class="number">{count(session.calls)}</td>
      <td class="number wide">{count(session.toolCalls)}</td>
      <td class="number">{count(session.epochs)}</td>
      <td class="number" title={count(session.usedTokens)}>
        {compact(session.usedTokens)}
      </td>
      <td class="number" title={count(session.windowTokens)}>
        {compact(session.windowTokens)}
      </td>
      <td class="number">{session.dollars === undefined ? "–" : dollars(session.dollars)}</td>
      <td class="wide">{plainLine(session.user ?? "–")}</td>
      <td class="quiet">{moment(session.updatedAt)}</td>
    </tr>
  );
}

/** The keys of the list: j and k move through the sessions, the slash searches. */
function startFleetKeys(): () => void {
  const listen = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || isHelpOpen.peek()) return;
    const { target, key } = event;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (key === "Escape") target.blur();
      return;
    }
    if (key === "Escape") isSearchOpen.value = false;
    if (key === "/") {
      event.preventDefault();
      isSearchOpen.value = true;
    }
    if (key !== "j" && key !== "k") return;
    event.preventDefault();
    const links = [...document.querySelectorAll<HTMLElement>(".sessions th a")];
    const place = links.findIndex((link) => link === document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, place + (key === "j" ? 1 : -1)))]?.focus();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
