/** The faults that were mended in a window, in words. */
import type { RepairKind } from "../../message/repair.ts";
import type { ViewerWindow } from "../viewer.ts";
import type { Rebuilt } from "./rebuild.ts";

const reasons: Readonly<Record<RepairKind, string>> = {
  "closed-call": "a call without a result got one that says so",
  "late-result": "a result that came after its call was closed is shown as a message",
  "orphan-result": "a result without its call is shown as a message",
  "duplicate-result": "a second result of one call is left out",
  "renamed-call": "a call's id was used before, so it got a suffix",
  "empty-message": "nothing of it can be sent",
  "mended-text": "empty text, half a character or arguments that were cut off were mended",
  "moved-message": "it stood between a call and its result, and stands behind the result",
};

/** The repairs of a rebuilt window, by message. */
export function repairsIn({ shown, composed }: Rebuilt): ViewerWindow["repairs"] {
  const found = shown.repairs.map(({ seq, kind }) => ({ seq, kind, reason: reasons[kind] }));
  const starts = composed.messages.some(({ id }) => id === "windrow:start");
  return starts ? [{ seq: 0, kind: "start", reason: "a provider wants the user first" }, ...found] : found;
}
