/** The calls that the gateway of a run kept, as it tells them and as its user is told. */
import { withoutSecrets } from "../../address.ts";
import { printable } from "../../printable.ts";

const usualStore = "./contexts";

/** The line that a gateway of a run says at its end: how many calls it kept. */
export function keptLine(calls: number): string {
  return `kept ${calls}\n`;
}

/** The number in that line, of what a gateway said; undefined where it said none. */
export function keptCalls(said: string): number | undefined {
  const [, calls] = /^kept (\d+)$/m.exec(said) ?? [];
  return calls === undefined ? undefined : Number(calls);
}

/**
 * The words that tell of them, and the command that shows them.
 *
 * @param calls - undefined where nobody counted them all, as of a gateway that died
 */
export function keptWords(calls: number | undefined, store: string): string {
  if (calls === 0) return "no answered call passed through the gateway";
  const place = printable(withoutSecrets(store));
  const look = `look: windrow view latest${store === usualStore ? "" : ` --store ${place}`}`;
  const kept = calls === undefined ? "the calls are kept" : `${calls} ${calls === 1 ? "call" : "calls"} kept`;
  return `${kept} in ${place}; ${look}`;
}
