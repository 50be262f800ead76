/** `windrow view`: one session, with its messages, tool runs, epochs and next window. */
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import { placeOf } from "../../ops/look/unreadable.ts";
import { reportUnreadable, onStoreAbout, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { readSystem } from "../read-system.ts";
import { languageOption, wordsFor } from "../text/language.ts";
import { countOf, messagesOf } from "../values.ts";
import { layoutOption, lookOf } from "./look.ts";
import type { LayoutName } from "./look.ts";
import { viewText } from "./view-text.ts";
import { wholeMessages } from "./view-whole.ts";

interface ViewFlags {
  readonly message?: string;
  readonly messages?: boolean;
  readonly summaries?: boolean;
  readonly tools?: boolean;
  readonly window?: boolean;
  readonly epochs?: boolean;
  readonly system?: string;
  readonly store: string;
  readonly last?: string;
  readonly layout?: LayoutName;
  readonly lang?: string;
  readonly html?: string;
  readonly json?: boolean;
}

/** Options of what only a session of a store has. */
const storeFlags = ["message", "messages", "summaries", "tools", "window", "epochs", "system", "last", "html"] as const;

/** Gives the command its options and its action. */
export function addView(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Shows a session, whether it is being written, closed or finished. Nothing is written, and no lock is taken.\n" +
        "Without a section it shows the newest messages. Of another agent's session file it shows what the agent's own\n" +
        "compactions dropped, and what was read again since.",
    )
    .argument("<id>", "its id, at least its first four characters, or latest; or a session file of another agent")
    .option("--message <ids>", "only this message, or these, whole: m12, 12, m12-m14")
    .option("--messages", "every message, one line each")
    .option("--summaries", "the summaries")
    .option("--tools", "every tool run")
    .option("--window", "the window for the next call, as the model would see it, with the system prompt and the tools")
    .option("--epochs", "when the window was rewritten, why, and how far")
    .option("--system <file>", "take this file's text as the system prompt of --window (default: the one on disk)")
    .option("--last <n>", "only the newest n messages, tool runs or epochs (default: 10 messages without a section)")
    .option(
      "--html <file>",
      "write the session with the window of every call as one file for a browser, which must not exist",
    )
    .option("--store <path>", "where the sessions are", "./contexts")
    .addOption(layoutOption("coding-agent for sessions of that preset, else windrow"))
    .addOption(languageOption())
    .option("--json", "one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow view latest\n  windrow view ~/.claude/projects/shop/9f2c.jsonl\n  windrow view 550e --tools --last 20\n  windrow view 550e --message m12-m14\n" +
        "  windrow view latest --html session.html\n",
    )
    .action(async (id: string, flags: ViewFlags) => finish(await runView(id, flags, io, signal)));
}

async function runView(
  id: string,
  flags: ViewFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const file = await stat(id).catch(() => undefined);
  if (file?.isFile() === true) {
    const flag = storeFlags.find((name) => flags[name] !== undefined);
    if (flag !== undefined) {
      const message = `--${flag} shows sessions of a store, and ${id} is a file. Import it first: windrow import ${id}`;
      throw new WindrowError("bad-option", message, { flag: `--${flag}` });
    }
    const { viewFile } = await import("./view-file.ts");
    return viewFile(id, flags, io);
  }
  const { html } = flags;
  if (html !== undefined) {
    const { writeViewHtml } = await import("./view-html.ts");
    return writeViewHtml(id, { ...flags, html }, io, signal);
  }
  const words = await wordsFor(flags.lang, io);
  const last = flags.last === undefined ? undefined : countOf("--last", flags.last);
  const only = flags.message === undefined ? undefined : messagesOf("--message", flags.message);
  const system = await readSystem(flags.system);
  const { viewSession } = await import("../../ops/look/view.ts");
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const { messages = false, tools = false, epochs = false, window = false, summaries = false } = flags;
    const plain = !(messages || tools || epochs || window || summaries || only);
    const view = await viewSession(store, {}, id, {
      messages: messages || plain,
      tools,
      epochs,
      window: window && system !== undefined ? { system } : window,
      last: last ?? (plain ? 10 : Infinity),
      ...(only && { only }),
    });
    const layout = flags.layout ?? (view.strategy === "coding-agent" ? view.strategy : "windrow");
    const text = (): string =>
      only && view.messages
        ? wholeMessages(view.messages.shown)
        : viewText(view, { ...lookOf(io), layout, summaries: summaries || plain, words });
    writeReport(io, flags, view, () => `${text()}\n`);
    const damaged = view.damage.filter(({ problem }) => problem === "damaged");
    const about = { sessionId: view.id, code: "store-corrupt" };
    const told = damaged.map((span) => ({
      ...about,
      message: `${placeOf(span)} cannot be read; all around it is shown.`,
    }));
    return reportUnreadable(io, told);
  });
}
