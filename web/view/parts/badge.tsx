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

/** How a session stands, with its state where that says more: a sign, and words. */
export function StatusMark(props: { readonly status: string; readonly standing?: string | undefined }): JSX.Element {
  const { status, standing = status } = props;
  const kind = /^(?:failed|timeout|died)$/.test(standing) ? "bad" : /^comple|closed/.test(standing) ? "done" : "live";
  return (
    <span class={`status status-${kind}`} title={`its state is ${status}`}>
      {standing === "running" ? status : standing}
    </span>
  );
}

/** An error with its words. */
export function Fault({ error }: { readonly error: unknown }): JSX.Element {
  return (
    <p class="fault" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
  );
}
