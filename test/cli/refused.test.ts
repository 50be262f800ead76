/** Command lines that are refused: with which status, and with which word that says what is right. */
import { beforeEach, expect, it } from "vitest";
import { chatLines, emptyStore, put, windrow } from "./stage.ts";

/** In a command, STORE is a store without sessions, CHAT a transcript of 42 messages, and NONE a path where nothing is. */
const refused: readonly (readonly [command: string, status: 1 | 2, said: string])[] = [
  ["statz", 2, "unknown command 'statz'. Did you mean stats? See windrow --help.\n"],
  ["foo", 2, "unknown command 'foo'. See windrow --help.\n"],
  ["view", 2, "missing required argument 'id'. See windrow view --help.\n"],
  ["restore latest", 2, "required option '--from <backup>' not specified. See windrow restore --help.\n"],
  ["stats --form", 2, "unknown option '--form'. Did you mean --from?\n"],
  ["view latest --tool", 2, "--tools"],
  ["archive", 2, "--archive"],
  ["archive --status open --archive STORE", 2, "--status takes"],
  ["archive --archive ftp://host/x --older-than 0", 2, 'No archive handles "ftp:"'],
  ["archive latest --undo --dry-run", 2, "--undo takes the ids"],
  ["audit --action raed", 2, 'Did you mean "read"?'],
  ["audit --store ram:", 2, "has no file of its audit"],
  ["completion tcsh", 2, "zsh, bash, fish, powershell"],
  ["completion", 2, "shell"],
  ["compose CHAT --at 999", 2, "42 messages"],
  ["compose CHAT --session 2", 2, "--session 1"],
  ["compose CHAT -b 10", 1, "budget-too-small"],
  ["compose CHAT -s adaptve", 2, '"adaptive"'],
  ["compose CHAT --counter o200", 2, '"o200k"'],
  ["compose CHAT --system NONE", 1, "input-not-found"],
  ["compose NONE", 1, "input-not-found"],
  ["compose latest", 1, "session-not-found"],
  ["finish 0000", 1, "session-not-found"],
  ["finish latest --status done", 2, "completed, failed, timeout"],
  ["gateway --edits provider", 2, "--edits provider needs --budget"],
  ["gateway --edits mine --budget 9k", 2, "windrow, provider"],
  ["gateway --upstream no-address", 2, "a name and an address"],
  ["gateway --upstream a=ftp://example.com", 2, "an http or https address"],
  ["gateway --upstream a=https://me:canary@example.com", 2, "a password"],
  ["gateway --token canary", 2, "16 to 200"],
  ["gateway --host 0.0.0.0", 2, "give a token"],
  ["init --host mastar", 2, 'There is no host "mastar". Did you mean "mastra"?'],
  ["init one --dir two", 2, "Give one of them."],
  ["keep ffffffff", 1, "session-not-found"],
  ["logs abcd", 1, "session-not-found"],
  ["logs --level loud", 2, "WARNING"],
  ["mcp --http 0 --host 0.0.0.0", 2, "give a token"],
  ["memory eat", 2, "forget"],
  ["memory forget", 2, "one or more ids"],
  ["memory correct f-1", 2, "has a text"],
  ["memory correct f-none text", 1, "not-found"],
  ["memory show /etc/passwd", 2, "/memories/"],
  ["recall latest", 2, "'what'"],
  ["replay NONE -s adaptiv", 2, '"adaptive"'],
  ["replay NONE -p antropic", 2, '"anthropic"'],
  ["replay NONE --counter estimat", 2, '"estimate"'],
  ["replay NONE -m claude-sonet-4-5", 2, "claude-sonnet-4-5"],
  ["replay NONE -b ,", 2, "--budget"],
  ["replay NONE -b 32,000", 2, "Write 32000 or 32k"],
  ['replay CHAT -s {"use":"adaptive","lowWatr":0.5}', 2, 'no option "lowWatr". Did you mean "lowWater"'],
  ['replay CHAT -s none,{"lowWater":0.5}', 2, '{"lowWater":0.5} is no JSON object with `use`'],
  ['replay CHAT -s {"use":"adaptive",,"delta":1', 2, "is no JSON object with `use`"],
  ["search", 2, "'words'"],
  ["search !?", 2, "has no word to search for"],
  ["search x --status done", 2, "Allowed choices are"],
  ["search x --session abcd1234", 1, "session-not-found"],
  ["serve ffff --no-open", 1, "session-not-found"],
  ["similar", 2, "either words or --session"],
  ["similar login --session latest", 2, "either words or --session"],
  ["stats --archive STORE --store ram:", 2, "cannot have an archive"],
  ["stats --from 2024-02-30", 2, "2024-01-31"],
  ["stats --to yesterday", 2, 'not "yesterday"'],
  ["stats --status done", 2, "Allowed choices are"],
  ["stats --lang de", 2, "en, ja, zh"],
  ["usage --by week", 2, "day, project, model"],
  ["usage --agent aider", 2, "claude-code, codex, pi"],
  ["usage --since yesterday", 2, "2026-01-31"],
  ["usage --since 2026-13-40", 2, "2026-01-31"],
  ["view latest", 1, "session-not-found"],
  ["view 012", 2, "at least the first 4"],
  ["view ../../etc", 2, "names no session"],
];

let store: string;
let chat: string;
beforeEach(async () => {
  store = await emptyStore();
  chat = await put(store, "chat.jsonl", chatLines(20));
});

it.each(refused)("windrow %s", async (command, expected, said) => {
  const places: Readonly<Record<string, string>> = { STORE: store, CHAT: chat, NONE: "/nowhere/at/all" };
  const argv = command.split(" ").map((word) => places[word] ?? word);
  const { status, stdout, stderr } = await windrow(argv, { WINDROW_STORE: store, HOME: store });
  expect([status, stdout]).toEqual([expected, ""]);
  expect(stderr).toContain(said);
  expect(stderr).toMatch(/^windrow: [a-z-]+: /);
  expect(stderr).not.toMatch(/canary|\n {4}at |nowhere.*no file/);
});

it.each(["statz", "foo"])("windrow help %s is refused as the command is", async (name) => {
  expect(await windrow(["help", name])).toEqual(await windrow([name]));
});

it.each(["stats", "completion", "help"])("windrow help %s is help", async (name) => {
  const { status, stdout } = await windrow(["help", name]);
  expect([status, stdout]).toEqual([0, expect.stringContaining("Usage: windrow")]);
});

it("tells its version", async () => {
  expect((await windrow(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/);
});
