/** Much text and long sessions: a recall and a compose that must end, and let timers run meanwhile. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { attack } from "./kit/attack.ts";

/** Milliseconds, many times what the child takes; of a seeded bug less: one that did not end in it is caught either way. */
const deadline = 90_000;
const seededDeadline = 12_000;

/** Share of its processor time for which a work may hold the event loop at once. */
const mostHeld = 0.6;

/**
 * Recalls over 2 MB whose every line answers, and composes a first window; prints the largest share of the processor time
 * of each during which no timer could run. Shares do not depend on how busy the machine is.
 */
const child = `
const [index, folder] = process.argv.slice(2);
const { SessionManager } = await import(index);
const manager = await SessionManager.open({ store: "file:" + folder, budget: 16_000 });
const session = await manager.create({});
const result = (callId, content) => ({ role: "tool", parts: [{ type: "tool-result", callId, name: "read", content }] });
const call = (callId, path) => ({ role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args: { path } }] });
const lines = Array.from({ length: 90_000 }, (_, line) => "the words of line " + line);
await session.append([{ role: "user", parts: [{ type: "text", text: "Find it." }] }, call("big", "log.txt"), result("big", lines.join("\\n"))]);
const long = await manager.create({});
const messages = [{ role: "user", parts: [{ type: "text", text: "Mend the tests." }] }];
for (let step = 0; messages.length < 3_000; step++) {
  const text = Array.from({ length: 6 }, (_, line) => "const value" + line + " = " + step * line + ";").join("\\n");
  messages.push(call("c" + step, "src/part" + (step % 700) + "/file" + (step % 90) + ".ts"), result("c" + step, text));
}
await long.append(messages);
const held = async (what, work, isRight) => {
  const cpu = () => process.cpuUsage().user / 1_000;
  const begun = cpu();
  let last = begun;
  let longest = 0;
  const tick = () => {
    longest = Math.max(longest, cpu() - last);
    last = cpu();
  };
  const ticker = setInterval(tick, 1);
  const answer = await work();
  tick();
  clearInterval(ticker);
  console.log(JSON.stringify({ what, share: longest / (cpu() - begun), right: isRight(answer) }));
};
const query = { query: "words of line 67890" };
await held("recall", () => session.recall(query), ({ text }) => text.includes("line 67890"));
await held("compose", () => long.compose(), ({ tokens }) => tokens <= 16_000);
await manager.close();
`;

interface Said {
  readonly what: string;
  readonly share: number;
  readonly right: boolean;
}

attack({
  name: "hangs",
  seeds: [
    {
      name: "recall splits a text for every line that matches",
      changes: [
        {
          file: "window/recall/search.ts",
          from: "this.#rarity.count(levels);",
          to: 'if (this.#text.split("\\n").length > 0) this.#rarity.count(levels);',
        },
      ],
    },
    {
      name: "compose gives the event loop no turn",
      changes: [{ file: "turns.ts", from: "await nextTurn();", to: "await Promise.resolve();" }],
    },
  ],
  async run({ root, scratch, seeded }, report) {
    const script = join(scratch, "child.mjs");
    await writeFile(script, child);
    const index = pathToFileURL(join(root, "index.js")).href;
    const args = [script, index, join(scratch, "contexts")];
    const options = { timeout: seeded ? seededDeadline : deadline, killSignal: "SIGKILL" } as const;
    const ended = promisify(execFile)(process.execPath, args, options).then(
      ({ stdout }) => ({ stdout, error: undefined }),
      (error: Error & { readonly stdout?: string }) => ({ stdout: error.stdout ?? "", error }),
    );
    const { stdout, error } = await ended;
    const said = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Said);
    for (const what of ["recall", "compose"]) {
      const found = said.find((one) => one.what === what);
      if (!found) report.failed(`${what} did not end: ${error?.message.split("\n")[0] ?? "the child said nothing"}`);
      else if (!found.right) report.failed(`${what} gave a wrong answer`);
      else if (found.share > mostHeld) report.failed(`${what} held the event loop for most of its time`);
      else report.count("long works with turns");
    }
  },
});
