/** The blocks before the messages of a window: what is not on disk, the system prompt, the tool definitions. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { ViewerWindow } from "../../../src/viewer/viewer.ts";
import { count, several } from "../../model/numbers.ts";
import type { SessionState } from "../../state/session.ts";
import { TextBlock } from "../parts/text-block.tsx";

const missingWords = {
  system: "the system prompt",
  tools: "the tool definitions",
  dynamic: "text that the host renews on every call",
} as const;

/** The card of what is not known of a window. What a host adds behind Windrow is on no disk. */
export function MissingCard({ window }: { readonly window: ViewerWindow }): JSX.Element {
  const { missing, verified, instead } = window;
  return (
    <div class="entry is-note" role="listitem">
      {missing.length > 0 && (
        <p>
          Sent, and not on disk: {missing.map((name) => missingWords[name]).join(", ")}. What a host adds behind Windrow
          is not on record either.
        </p>
      )}
      {verified.remark === undefined ? null : <p>{verified.remark}</p>}
      {verified.isVerified || instead ? null : (
        <p>
          <b>Not proved to be what was sent:</b> {verified.problem ?? "the record names no hash to compare with."}
        </p>
      )}
    </div>
  );
}

interface CardProps {
  readonly state: SessionState;
  readonly window: ViewerWindow;
}

/** The card of the system prompt beside the log. */
export function SystemCard({ state, window }: CardProps): JSX.Element {
  return (
    <div class="entry block-system" role="listitem">
      <header class="entry-head">
        <span class="kind">system prompt</span>
        <span class="quiet end">{count(window.blocks.system)} tokens</span>
      </header>
      <TextBlock state={state} name={`system/${window.epoch ?? 0}`} text={window.system ?? ""} />
    </div>
  );
}

/** The card of the tools: their names, and one definition at a time. */
export function ToolsCard({ state, window }: CardProps): JSX.Element {
  const shown = useSignal("");
  const tool = window.tools.find(({ name }) => name === shown.value);
  return (
    <div class="entry block-tools" role="listitem">
      <header class="entry-head">
        <span class="kind">{several(window.tools.length, "tool definition")}</span>
        <span class="quiet end">{count(window.blocks.tools)} tokens</span>
      </header>
      <p class="chips">
        {window.tools.slice(0, 100).map(({ name }) => (
          <button
            key={name}
            type="button"
            class="small"
            aria-pressed={shown.value === name}
            onClick={() => {
              shown.value = shown.value === name ? "" : name;
            }}
          >
            {name}
          </button>
        ))}
      </p>
      {tool ? (
        <TextBlock
          state={state}
          name={`tool/${tool.name}`}
          text={`${tool.description ?? ""}\n${JSON.stringify(tool.inputSchema ?? {}, null, 2)}`}
        />
      ) : null}
    </div>
  );
}
