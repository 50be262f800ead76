/** One session as the page has it: its calls, its epochs, its window at a call, and the rows that came into view. */
import { connectionTrouble } from "./connection.ts";
import { batch, computed, effect, signal } from "@preact/signals";
import type { ReadonlySignal, Signal } from "@preact/signals";
import type {
  CallRow,
  EpochRow,
  OutlineRow,
  ViewerFate,
  ViewerMessage,
  ViewerSession,
  ViewerSource,
  ViewerWindow,
} from "../../src/viewer/viewer.ts";
import { fateAt, runAt } from "../model/fates.ts";
import type { SessionRoute } from "../model/route.ts";
import type { Chunks } from "./chunks.ts";
import { growingLog } from "./growing-log.ts";
import { loader } from "./loaded.ts";
import type { Loaded } from "./loaded.ts";
import type { Instead } from "./window-of-call.ts";
import { followCall } from "./window-of-call.ts";
import { go, route, slide } from "./navigation.ts";
import { SourceFault, wordsOf } from "../source/fault.ts";

const callsAtOnce = 2_000;

/** The message that is selected, and the pane that chose it: the others scroll to it. */
export interface Selection {
  readonly seq: number;
  readonly by: "log" | "window" | "link";
}

/** The state of a session's page. */
export interface SessionState {
  readonly source: ViewerSource;
  readonly id: string;
  readonly row: number | undefined;
  readonly head: Signal<Loaded<ViewerSession>>;
  readonly calls: Signal<readonly CallRow[]>;
  readonly total: Signal<number>;
  readonly messages: ReadonlySignal<number>;
  /** Without fates. */
  readonly epochs: Signal<Loaded<readonly EpochRow[]>>;
  /** With the fates of their messages, once {@link SessionState.needFates} asked for them. */
  readonly fates: Signal<Loaded<readonly EpochRow[]>>;
  /** Tokens that a window may have, of the session or of the replay's row; null for no limit. */
  readonly budget: ReadonlySignal<number | null>;
  /** The first call with a window of each epoch. */
  readonly starts: ReadonlySignal<ReadonlyMap<number, number>>;
  readonly window: Signal<Loaded<ViewerWindow>>;
  readonly outline: Chunks<OutlineRow>;
  readonly log: Chunks<ViewerMessage>;
  readonly call: ReadonlySignal<number>;
  readonly selection: Signal<Selection | undefined>;
  readonly instead: Signal<Instead | undefined>;
  readonly follows: Signal<boolean>;
  readonly unread: Signal<number>;
  /** Requests that passed a gateway, as far as the page was told. */
  readonly requests: ReadonlySignal<number>;
  /** Changes when windows that could not be had are asked for again. */
  readonly retries: ReadonlySignal<number>;
  /** Texts that were opened, by their key. */
  readonly opened: Signal<ReadonlyMap<string, number>>;
  toCall(call: number, way?: "slide" | "go"): void;
  toView(view: SessionRoute["view"], other?: number): void;
  select(seq: number | undefined, by: Selection["by"]): void;
  fateOf(seq: number): ViewerFate | undefined;
  /** Asks for the epochs with fates, and for those of later epochs as they come. */
  needFates(): void;
  open(key: string, length: number): void;
  dispose(): void;
}

/** Whether a window that was not given may be: its server is there again, or its call was made meanwhile. */
function mayComeNow(error: unknown, call: number, calls: number): boolean {
  const code = error instanceof SourceFault ? error.code : "";
  return code === "no-answer" || (code === "not-found" && call <= calls);
}

/** Opens the state of a session, or of a replay's row, at the place of the route. */
export function openSession(source: ViewerSource, id: string, row: number | undefined): SessionState {
  const rowOf = row === undefined ? [] : [row];
  const left = new AbortController();
  const head = loader<ViewerSession>();
  const epochs = loader<readonly EpochRow[]>();
  const fates = loader<readonly EpochRow[]>();
  let needsFates = false;
  const window = loader<ViewerWindow>();
  const calls = signal<readonly CallRow[]>([]);
  const total = signal(0);
  const growing = growingLog(source, id);
  const selection = signal<Selection | undefined>(undefined);
  const instead = signal<Instead | undefined>(undefined);
  const follows = signal(false);
  const unread = signal(0);
  const requests = signal(0);
  const retries = signal(0);
  const opened = signal<ReadonlyMap<string, number>>(new Map());
  const isHere = (place: typeof route.value): place is SessionRoute =>
    place.page === "session" && place.row === row && (row !== undefined || place.id === id);

  const call = signal(0);

  async function loadCalls(): Promise<void> {
    for (;;) {
      const from = calls.peek().length + 1;
      const page = await source.calls(id, from, from + callsAtOnce - 1, ...rowOf);
      if (left.signal.aborted) return;
      batch(() => {
        if (calls.peek().length + 1 === from) calls.value = [...calls.peek(), ...page.calls];
        total.value = page.total;
        if (call.peek() === 0 && page.total > 0 && !named()) call.value = page.total;
      });
      if (page.calls.length === 0 || calls.peek().length >= page.total) return;
    }
  }

  function named(): number | undefined {
    const place = route.peek();
    return isHere(place) ? place.call : undefined;
  }

  async function loadHead(): Promise<void> {
    await head.ask(() => source.session(id));
    growing.grow(head.state.peek().value?.messages ?? 0);
  }

  async function loadEpochs(): Promise<void> {
    await epochs.ask(() => source.epochs(id, row, { fates: false }));
    if (needsFates) await fates.ask(() => source.epochs(id, row));
  }

  function needFates(): void {
    if (needsFates) return;
    needsFates = true;
    void fates.ask(() => source.epochs(id, row));
  }

  const quiet = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => {
      if (!head.state.peek().error && !left.signal.aborted) {
        head.state.value = { ...head.state.peek(), error: new Error(wordsOf(error)), isLoading: false };
      }
    });
  };

  // The route leads, the call and the selection follow it.
  const stopRoute = effect(() => {
    const place = route.value;
    if (!isHere(place)) return;
    batch(() => {
      if (place.call !== undefined) call.value = place.call;
      const { seq } = place;
      if (seq !== undefined && selection.peek()?.seq !== seq) selection.value = { seq, by: "link" };
    });
  });

  const stopWindow = followCall({ source, id, row, call, instead, window, retries });

  function toCall(to: number, way: "slide" | "go" = "slide"): void {
    const wanted = Math.max(1, Math.min(to, total.peek()));
    if (wanted < 1) return;
    batch(() => {
      call.value = wanted;
      if (wanted < total.peek()) follows.value = false;
      else unread.value = 0;
      const place = route.peek();
      if (!isHere(place)) return;
      const { seq: _, ...rest } = place;
      const seq = selection.peek()?.seq;
      const next: SessionRoute = { ...rest, call: wanted, ...(seq !== undefined && rest.view === "window" && { seq }) };
      (way === "go" ? go : slide)(next);
    });
  }

  function toView(view: SessionRoute["view"], other?: number): void {
    const at = call.peek();
    const rest = { page: "session", id, ...(row !== undefined && { row }), ...(at > 0 && { call: at }) } as const;
    go({ ...rest, view, ...(view === "diff" && { other: other ?? Math.max(1, at - 1) }) });
  }

  function select(seq: number | undefined, by: Selection["by"]): void {
    const place = route.peek();
    batch(() => {
      selection.value = seq === undefined ? undefined : { seq, by };
      if (!isHere(place) || (place.view !== "window" && seq === undefined)) return;
      const { seq: _, other: _other, ...rest } = place;
      const at = call.peek();
      const next: SessionRoute = { ...rest, view: "window", ...(at > 0 && { call: at }) };
      (place.view === "window" ? slide : go)(seq === undefined ? next : { ...next, seq });
    });
  }

  function follow(): void {
    if (row !== undefined) return;
    void source
      .follow(
        id,
        (event) => {
          const before = { calls: total.peek() };
          batch(() => {
            growing.grow(event.messages);
            growing.retry();
            if (mayComeNow(window.state.peek().error, call.peek(), event.calls)) retries.value++;
            requests.value = event.requests ?? 0;
            const known = head.state.peek().value;
            if (!known) return;
            const { status, standing } = event;
            head.state.value = { isLoading: false, value: { ...known, status, ...(standing && { standing }) } };
          });
          // The first calls are on their way without an event.
          if (event.calls <= before.calls || calls.peek().length === 0) return;
          const wasNewest = call.peek() === before.calls;
          quiet(
            loadCalls().then(() => {
              const more = total.peek() - before.calls;
              if (follows.peek() && wasNewest) toCall(total.peek());
              else unread.value += more;
              void loadEpochs();
              void loadHead();
            }),
          );
        },
        left.signal,
      )
      .catch(() => undefined);
  }

  // The head comes first: the rows of the log wait for it. The server answers one question after the other.
  void loadHead().finally(follow);
  quiet(loadCalls());
  void loadEpochs();

  return {
    source,
    id,
    row,
    head: head.state,
    calls,
    total,
    messages: growing.messages,
    epochs: epochs.state,
    fates: fates.state,
    budget: computed(() => {
      const own = row === undefined ? head.state.value.value?.budget : undefined;
      return own ?? (instead.value ? null : window.state.value.value?.budget) ?? null;
    }),
    starts: computed(() => {
      const found = new Map<number, number>();
      for (const row of calls.value) if (row.epoch !== null && !found.has(row.epoch)) found.set(row.epoch, row.call);
      return found;
    }),
    window: window.state,
    outline: growing.outline,
    log: growing.log,
    call: computed(() => call.value),
    selection,
    instead,
    follows,
    unread,
    requests,
    retries,
    opened,
    toCall,
    toView,
    select,
    needFates,
    fateOf(seq) {
      const { value } = window.state.value;
      if (!value) return undefined;
      return runAt(value.fates, seq)?.fate ?? fateAt(value.fates, seq, value.lastSeq);
    },
    open(key, length) {
      opened.value = new Map(opened.peek()).set(key, length);
    },
    dispose() {
      left.abort();
      connectionTrouble.value = undefined;
      stopRoute();
      stopWindow();
    },
  };
}
