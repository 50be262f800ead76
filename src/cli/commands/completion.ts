/** `windrow completion`: scripts that complete commands and options in a shell. */
import type { Command } from "commander";
import type { CommandIo } from "../command.ts";

/** Asked by the scripts for what could come next. */
const requestName = "complete";

const description =
  "Prints a script that completes windrow's commands and options. Load it in your shell's start file.";

const examples =
  "\nExamples:\n" +
  "  source <(windrow completion bash)                            # in ~/.bashrc; zsh likewise in ~/.zshrc\n" +
  "  windrow completion fish | source                             # in ~/.config/fish/config.fish\n" +
  "  windrow completion powershell | Out-String | Invoke-Expression  # in $PROFILE\n";

/** Replacements for the functions of bash-completion that bash's script calls, where that package is not installed. */
const withoutBashCompletion =
  "if ! declare -F _get_comp_words_by_ref >/dev/null; then\n" +
  "    _get_comp_words_by_ref() {\n" +
  '        cur="${COMP_WORDS[COMP_CWORD]}"\n' +
  '        prev="${COMP_WORDS[COMP_CWORD-1]}"\n' +
  '        words=("${COMP_WORDS[@]}")\n' +
  "        cword=$COMP_CWORD\n" +
  "    }\n" +
  "fi\n";

/**
 * Adds the command to a program that has all its others. What makes the scripts is loaded only when it is asked for.
 *
 * @param asked - the command that is run
 * @param words - the words to complete, where that is asked
 */
export async function addCompletion(
  program: Command,
  io: CommandIo,
  asked: string | undefined,
  words: readonly string[],
): Promise<void> {
  if (asked === "completion" || asked === requestName) {
    // A candidate and what it is are one line.
    for (const command of program.commands) command.description(command.summary());
    const { default: tab } = await import("@bomb.sh/tab/commander");
    const root = tab(program, { completionCommandName: "completion" });
    if (asked === requestName) await (await import("./completion-values.ts")).addValues(root, words, io);
  } else program.command("completion").argument("<shell>", "bash, zsh, fish or powershell");
  program.commands
    .find((command) => command.name() === "completion")
    ?.summary("a script that completes commands and options in bash, zsh, fish or PowerShell")
    .description(description)
    .addHelpText("after", examples)
    .hook("preAction", ({ args }) => void (args[0] === "bash" && io.stdout.write(withoutBashCompletion)));
}
