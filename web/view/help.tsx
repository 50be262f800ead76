/** The help: the keys, and the meaning of the fates. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { fateMeanings, fateOrder } from "../model/fates.ts";
import { sessionKeys } from "../state/keys.ts";
import { isHelpOpen } from "../state/preferences.ts";
import { Fate } from "./parts/badge.tsx";

/** The help as a dialog over the page. */
export function Help(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  const close = (): void => {
    isHelpOpen.value = false;
  };
  return (
    <dialog ref={dialog} aria-label="Help" onClose={close}>
      <header class="pane-head">
        <h2>Keys</h2>
        <button type="button" class="small end" onClick={close}>
          close
        </button>
      </header>
      <dl class="keys">
        {sessionKeys.map(({ keys, does }) => (
          <>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
      <h2>Fates of a message at a call</h2>
      <dl class="keys">
        {fateOrder.map((fate) => (
          <>
            <dt>
              <Fate fate={fate} />
            </dt>
            <dd>{fateMeanings[fate]}</dd>
          </>
        ))}
      </dl>
      <p class="quiet">
        Texts are shown raw, as the model got them. Characters that cannot be seen are named in a frame, such as{" "}
        <span class="mark">ESC</span>, and never followed.
      </p>
    </dialog>
  );
}
