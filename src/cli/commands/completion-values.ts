/** The values that completion offers: names of strategies, profiles and the like, and the ids of a store's sessions. */
import type { Command, RootCommand } from "@bomb.sh/tab";
import { loadConfig } from "../../config/config.ts";
import { exportFormats } from "../../ops/exchange/export.ts";
import { sessionTitle } from "../../ops/look/title.ts";
import { logLevels } from "../../ops/logs/logs.ts";
import { sessionStatuses } from "../../store/statuses.ts";
import { counterNames } from "../../tokens/counters.ts";
import { models } from "../../tokens/models.ts";
import { profileNames } from "../../window/provider/profile.ts";
import { strategyNames } from "../../window/by-name.ts";
import type { CommandIo } from "../command.ts";
import { conversations } from "../../store/memory-logs.ts";

/** Most ids that are offered, the newest. */
const mostIds = 50;

/** Arguments that name sessions. */
const sessionArguments: ReadonlySet<string> = new Set(["id", "session", "file|id"]);

/** The values of options, by name. */
const optionValues: Readonly<Record<string, readonly string[]>> = {
  strategy: strategyNames,
  profile: profileNames,
  counter: counterNames,
  model: [...models.keys()],
  status: sessionStatuses,
  level: logLevels,
  format: exportFormats,
};

/** A value, and a word on what it is. */
type Candidate = readonly [value: string, description: string];

/**
 * Gives a program's completion its values.
 *
 * @param root - what completes, with the program's commands
 * @param words - the words so far, of which `--store` says whose ids are offered
 */
export async function addValues(root: RootCommand, words: readonly string[], io: CommandIo): Promise<void> {
  const asked = root.commands.get(words[0] ?? "");
  if (!asked) return;
  for (const option of asked.options.values()) {
    const values = optionValues[option.value];
    if (values && !option.isBoolean) option.handler = (complete) => values.forEach((value) => complete(value, ""));
  }
  if (!namesSessions(asked)) return;
  const ids = await sessionIds(words, io);
  for (const { name, command, variadic } of asked.arguments.values()) {
    if (!sessionArguments.has(name)) continue;
    command.argument(name, (complete) => ids.forEach(([id, what]) => complete(id, what)), variadic);
  }
  const session = asked.options.get("session");
  if (session) session.handler = (complete) => ids.forEach(([id, what]) => complete(id, what));
}

function namesSessions(command: Command): boolean {
  return command.options.has("session") || [...command.arguments.keys()].some((name) => sessionArguments.has(name));
}

/** The newest sessions of the store that is meant; none where it cannot be read. */
async function sessionIds(words: readonly string[], io: CommandIo): Promise<readonly Candidate[]> {
  const found: Candidate[] = [["latest", "the session that was written last"]];
  try {
    const at = words.indexOf("--store");
    const given = at === -1 ? undefined : words[at + 1];
    const target = given ?? (await loadConfig({ environment: io.env })).settings.store ?? "./contexts";
    const store = await io.openStore(target, { create: false });
    try {
      for await (const { metadata, state } of conversations(store, {}, { limit: mostIds })) {
        const what = [state.status, metadata.createdAt.slice(0, 16), await sessionTitle(store, {}, metadata)];
        found.push([metadata.uuid, what.filter((text) => text !== "").join(" ")]);
      }
    } finally {
      await store.close();
    }
  } catch {
    // A shell that completes shows no errors.
  }
  return found;
}
