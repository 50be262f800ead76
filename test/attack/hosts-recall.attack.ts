/** Hosts that replace their histories, and models that then recall what the notes of their windows name. */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { replaceHistories } from "../adapter/replaced-histories.ts";
import { testedHosts } from "../adapter/replaced-hosts.ts";
import { attack } from "./kit/attack.ts";

attack({
  name: "recall after a replaced history",
  seeds: [
    {
      name: "AI SDK: recall reads the log after the history was replaced",
      changes: [
        {
          file: "adapter/ai-sdk/ai-sdk.ts",
          from: "numbered.recall(query, { counter }));",
          to: "session ? session.recall(query) : numbered.recall(query, { counter }));",
        },
      ],
    },
    {
      name: "pi: recall reads the log after the history was replaced",
      changes: [
        {
          file: "adapter/pi/tools.ts",
          from: "await numbered.recall(recallQuery(given))",
          to: "await session.recall(recallQuery(given))",
        },
      ],
    },
    {
      name: "OpenAI Agents: recall reads the log after the history was replaced",
      changes: [
        {
          file: "adapter/openai-agents/openai-agents.ts",
          from: "await this.#numbered.recall(recallQuery(input))",
          to: "await this.session.recall(recallQuery(input))",
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
    for (const host of testedHosts) {
      let asked = 0;
      const check = (noted: number, lies: readonly string[], when: string): void => {
        asked += noted;
        report.count("recalls", noted);
        if (lies.length > 0) report.failed(`${host.name}, ${when}: ${lies[0]} (${lies.length} of ${noted})`);
      };
      try {
        await replaceHistories(host, load, store, check);
      } catch (error) {
        if (product.seeded) throw error;
        report.failed(`${host.name}: ${String(error)}`);
      }
      if (asked === 0) report.failed(`${host.name}: no note named anything to recall`);
    }
    report.count("hosts", testedHosts.length);
  },
});
