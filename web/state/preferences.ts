/** Choices that a reader makes once: the theme, the panes. */
import { effect, signal } from "@preact/signals";

/** The themes; `auto` is the system's. */
export const themes = ["auto", "light", "dark"] as const;
/** A theme of the page. */
export type Theme = (typeof themes)[number];

const themeKey = "windrow-theme";

/** The theme that was chosen. */
export const theme = signal<Theme>("auto");
/** Whether the help is open. */
export const isHelpOpen = signal(false);
/** The pane beside the log where there is room for one. */
export const sidePane = signal<"window" | "facts">("window");
/** The pane that the keys j and k move in. */
export const keyPane = signal<"log" | "window">("log");
/** Whether the search is open. */
export const isSearchOpen = signal(false);
/** Changes whenever colours change, for what is drawn on a canvas. */
export const paints = signal(0);

/** Reads the choices, and keeps the document in step with them. A file's page may have no storage. */
export function startPreferences(): void {
  const kept = stored();
  if (kept) theme.value = kept;
  effect(() => {
    const { documentElement } = document;
    if (theme.value === "auto") delete documentElement.dataset["theme"];
    else documentElement.dataset["theme"] = theme.value;
    keep(theme.value);
    paints.value = paints.peek() + 1;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    paints.value++;
  });
}

/** Takes the next theme. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
}

function stored(): Theme | undefined {
  try {
    return themes.find((name) => name === localStorage.getItem(themeKey));
  } catch {
    return undefined;
  }
}

function keep(name: Theme): void {
  try {
    localStorage.setItem(themeKey, name);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
