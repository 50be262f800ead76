/** Keys of a session's page. They rest while a field is written in, and with Ctrl, Alt or Meta. */
import { isHelpOpen, isSearchOpen, keyPane, sidePane } from "./preferences.ts";
import { epochBeside, messageBeside } from "./steps.ts";
import type { SessionState } from "./session.ts";
import { route } from "./navigation.ts";
import type { SessionView } from "../model/route.ts";

/** A key with its meaning, as the help lists it. */
export interface KeyHelp {
  readonly keys: string;
  readonly does: string;
}

/** The keys of a session's page. */
export const sessionKeys: readonly KeyHelp[] = [
  { keys: "← →", does: "the call before, the call after; with Shift ten calls" },
  { keys: "[ ]", does: "the epoch before, the epoch after" },
  { keys: "Home End", does: "the first call, the newest call" },
  { keys: "g", does: "go to a call by its number" },
  { keys: "j k", does: "the message below, the message above" },
  { keys: "l", does: "keys to the log, keys to the window" },
  { keys: "Esc", does: "close the message, the search or this help" },
  { keys: "/", does: "search in the session or in all" },
  { keys: "w m d e r t", does: "window, map, difference, epochs, recalls, text" },
  { keys: "q", does: "the requests of a line that a gateway keeps" },
  { keys: "i", does: "facts of the call in place of the window, where the page is narrow" },
  { keys: "f", does: "follow the newest call of a live session" },
  { keys: "?", does: "this help" },
];

/** Listens to keys until the answer is called. */
export function startKeys(state: SessionState): () => void {
  const views = { w: "window", m: "map", d: "diff", e: "epochs", r: "recalls", q: "requests", t: "text" } as const;
  const actions: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    "ArrowLeft": ({ shiftKey }) => state.toCall(state.call.peek() - (shiftKey ? 10 : 1)),
    "ArrowRight": ({ shiftKey }) => state.toCall(state.call.peek() + (shiftKey ? 10 : 1)),
    "Home": () => state.toCall(1, "go"),
    "End": () => state.toCall(state.total.peek(), "go"),
    "[": () => epochBeside(state, -1),
    "]": () => epochBeside(state, 1),
    "j": () => messageBeside(state, 1),
    "k": () => messageBeside(state, -1),
    "g": () => focus("call-number"),
    "/": () => {
      isSearchOpen.value = true;
      focus("search-words");
    },
    "l": switchPane,
    "i": () => {
      sidePane.value = sidePane.peek() === "facts" ? "window" : "facts";
    },
    "f": () => {
      state.follows.value = !state.follows.peek();
      if (state.follows.peek()) state.toCall(state.total.peek());
    },
    "Escape": () => {
      if (isHelpOpen.peek() || isSearchOpen.peek()) isSearchOpen.value = false;
      else state.select(undefined, "log");
    },
  };
  const listen = (event: KeyboardEvent): void => {
    const { key } = event;
    const isField = isWritten(event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || isHelpOpen.peek()) return;
    if (isField) {
      if (key === "Escape") {
        (event.target as HTMLElement).blur();
        isSearchOpen.value = false;
      }
      return;
    }
    const view = Object.hasOwn(views, key) ? views[key as keyof typeof views] : undefined;
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (!view && !action) return;
    // The text view scrolls by the keys of the browser.
    if ((key === "Home" || key === "End") && event.target !== document.body && !isSlider(event.target)) return;
    event.preventDefault();
    if (view) toggleView(state, view);
    else action?.(event);
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}

/** Opens a view; its own key closes it again. */
function toggleView(state: SessionState, view: SessionView): void {
  if (view === "requests" && state.head.peek().value?.line === undefined) return;
  const place = route.peek();
  const isOpen = place.page === "session" && place.view === view;
  state.toView(isOpen ? "window" : view);
}

function switchPane(): void {
  keyPane.value = keyPane.peek() === "log" ? "window" : "log";
  focus(keyPane.peek() === "log" ? "log" : "window-list");
}

/** Focuses an element, at once where it is drawn, else when it is. */
function focus(id: string): void {
  const take = (): boolean => {
    const element = document.getElementById(id);
    element?.focus();
    if (element instanceof HTMLInputElement) element.select();
    return element !== null;
  };
  if (!take()) requestAnimationFrame(take);
}

function isSlider(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "range";
}

function isWritten(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "range" && target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
