/** Hosts that replace their histories, and models that then recall what the notes of their windows name. */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { hostings, replaceHistories } from "../adapter/replaced-histories.ts";
import { attack } from "./kit/attack.ts";

attack({
  name: "recall after a replaced history",
  seeds: [
    {
      name: "recall reads the log after the history was replaced",
      changes: [
        {
          file: "adapter/host/numbered.ts",
          from: "if (this.#session && !source)",
          to: "if (this.#session)",
        },
      ],
    },
    {
      name: "pi's coding agent: recall reads what pi would send, not what it sent",
      changes: [
        {
          file: "adapter/pi/extension.ts",
          from: "new PiBranch(sessionManager).recall(query, sent)",
          to: "new PiBranch(sessionManager).recall(query)",
        },
      ],
    },
    {
      name: "a session's recall is not told that the window was made of another history",
      changes: [
        {
          file: "adapter/host/conversation.ts",
          from: "this.#numbered.fromHistory(() => log?.whole?.(given) ?? given);",
          to: "if (!log) this.#numbered.fromHistory(() => given);",
        },
      ],
    },
    {
      name: "conversations side by side are taken for one",
      changes: [
        {
          file: "adapter/host/numbered.ts",
          from: "this.#history && (history ?? this.#history)",
          to: "this.#history",
        },
      ],
    },
  ],
  async run(product, report) {
    const load = async <Module>(path: string): Promise<Module> =>
      (await import(pathToFileURL(join(product.root, `${path}.js`)).href)) as Module;
    const store = product.seeded ? "ram:" : product.scratch;
    for (const hosting of hostings) {
      const [name] = hosting;
      let asked = 0;
      const check = (noted: number, lies: readonly string[], when: string): void => {
        asked += noted;
        report.count("recalls", noted);
        if (lies.length > 0) report.failed(`${name}, ${when}: ${lies[0]} (${lies.length} of ${noted})`);
      };
      try {
        await replaceHistories(hosting, load, store, check);
      } catch (error) {
        if (product.seeded) throw error;
        report.failed(`${name}: ${String(error)}`);
      }
      if (asked === 0) report.failed(`${name}: no note named anything to recall`);
    }
    report.count("hosts", hostings.length);
  },
});
