/** A strip beside the log with the fates of all its messages, one above the other, as an editor's overview has it. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fateAt, fateOrder } from "../../model/fates.ts";
import { paints } from "../../state/preferences.ts";
import type { SessionState } from "../../state/session.ts";
import { drawFates } from "../parts/canvas.ts";

/** No place in the order of fates: nothing is drawn. */
const unknown = 255;

/** The strip; a press on it scrolls the log there. It repeats what the list says, so readers of screens pass over it. */
export function FateStrip(props: {
  readonly state: SessionState;
  readonly onPick: (seq: number) => void;
}): JSX.Element {
  const { state, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { value } = state.window.value;
  const messages = state.messages.value;
  const painted = paints.value;
  useEffect(() => {
    if (!canvas.current || messages === 0) return;
    const rows = Math.min(messages, 1_200);
    const fates = Uint8Array.from({ length: rows }, (_, y) => {
      const seq = Math.floor(((y + 0.5) * messages) / rows) + 1;
      return value ? fateOrder.indexOf(fateAt(value.fates, seq, value.lastSeq)) : unknown;
    });
    drawFates(canvas.current, fates, 1, rows);
  }, [value, messages, painted]);
  const pick = (event: PointerEvent): void => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box || event.buttons === 0 || messages === 0) return;
    const share = Math.max(0, Math.min(1, (event.clientY - box.top) / box.height));
    onPick(Math.min(messages, Math.floor(share * messages) + 1));
  };
  return (
    <canvas
      ref={canvas}
      class="fate-strip"
      aria-hidden="true"
      onPointerDown={pick}
      onPointerMove={pick}
      width={1}
      height={1}
    />
  );
}
