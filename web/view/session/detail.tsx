/** The selected message as it is in the log, whole. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { ViewerMessage } from "../../../src/viewer/viewer.ts";
import { count, moment } from "../../model/numbers.ts";
import type { SessionState } from "../../state/session.ts";
import { Fault, RoleMark } from "../parts/badge.tsx";
import { MessageParts } from "../parts/message-parts.tsx";

/** The pane of the selected message. */
export function Detail({ state, seq }: { readonly state: SessionState; readonly seq: number }): JSX.Element {
  const message = useMessage(state, seq);
  return (
    <section class="detail" aria-label={`Message ${seq} in the log`}>
      <header class="pane-head">
        <h3>m{seq} in the log</h3>
        {message.value ? (
          <>
            <RoleMark role={message.value.role} />
            <span class="quiet">{count(message.value.tokens)} tokens</span>
            <span class="quiet wide">{moment(message.value.timestamp)}</span>
          </>
        ) : null}
        <button type="button" class="small end" onClick={() => state.select(undefined, "log")}>
          close
        </button>
      </header>
      <div class="detail-body" tabIndex={0} role="region" aria-label={`Text of message ${seq}`}>
        {message.error === undefined ? null : <Fault error={message.error} />}
        {message.value ? <MessageParts state={state} message={message.value} name={`log/${seq}`} /> : null}
      </div>
    </section>
  );
}

/** A message of the log, when it is there. */
export function useMessage(
  state: SessionState,
  seq: number,
): { readonly value?: ViewerMessage; readonly error?: unknown } {
  const error = useSignal<unknown>(undefined);
  const value = state.log.at(seq);
  useEffect(() => {
    error.value = undefined;
    if (seq > 0) {
      state.log.all([seq]).catch((fault: unknown) => {
        error.value = fault;
      });
    }
  }, [state, seq]);
  return { ...(value && { value }), error: error.value };
}
