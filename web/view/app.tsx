/** The frame of the page. */
import type { JSX } from "preact";

/** The page as a whole: its head, and the view that the address names. */
export function App(): JSX.Element {
  return (
    <main>
      <h1>Windrow</h1>
    </main>
  );
}
