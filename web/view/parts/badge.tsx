/** Small marks: a fate, a role, a status, a link to a message. Each has a word or a letter beside its colour. */
import type { JSX } from "preact";
import type { Role } from "../../../src/message/message.ts";
import type { ViewerFate } from "../../../src/viewer/viewer.ts";
import { fateLetter, fateMeanings } from "../../model/fates.ts";
import type { SessionState } from "../../state/session.ts";

/** The mark of a fate: its letter in its colour, and its word. */
export function Fate({ fate }: { readonly fate: ViewerFate }): JSX.Element {
  return (
    <span class={`fate fate-${fate}`} title={fateMeanings[fate]}>
      <b aria-hidden="true">{fateLetter(fate)}</b>
      {fate}
    </span>
  );
}

/** The role of a message. */
export function RoleMark({ role }: { readonly role: Role }): JSX.Element {
  return <span class={`role role-${role}`}>{role}</span>;
}

/** A link to a message of the log. */
export function MessageLink(props: {
  readonly state: SessionState;
  readonly seq: number;
  readonly to?: number | undefined;
  readonly by?: "log" | "window" | "link";
}): JSX.Element {
  const { state, seq, to, by = "window" } = props;
  const words = to !== undefined && to !== seq ? `m${seq}–m${to}` : `m${seq}`;
  return (
    <button type="button" class="link" title={`message ${seq} of the log`} onClick={() => state.select(seq, by)}>
      {words}
    </button>
  );
}

/** The status of a session: a sign, and its word. */
export function StatusMark({ status }: { readonly status: string }): JSX.Element {
  const kind = status === "failed" || status === "timeout" ? "bad" : /^comple|closed/.test(status) ? "done" : "live";
  return <span class={`status status-${kind}`}>{status}</span>;
}

/** An error with its words. */
export function Fault({ error }: { readonly error: unknown }): JSX.Element {
  return (
    <p class="fault" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}
