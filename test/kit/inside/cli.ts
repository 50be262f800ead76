/** Names of src/cli that tests use and no door exports. */
export { catalogue } from "../../../src/cli/catalogue.ts";
export { reportError } from "../../../src/cli/command.ts";
export type { CommandIo } from "../../../src/cli/command.ts";
export { codingAgentStats } from "../../../src/cli/commands/stats-coding-agent.ts";
export { secretOf } from "../../../src/cli/gateway/secret.ts";
export { agentName, planFiles } from "../../../src/cli/init/files.ts";
export { chooseHost, initHosts } from "../../../src/cli/init/hosts.ts";
export { ignoreLine, readProject } from "../../../src/cli/init/project.ts";
export { run } from "../../../src/cli/program.ts";
export { chosenOf } from "../../../src/cli/replay/advice-view.ts";
export { recordWords } from "../../../src/cli/replay/words.ts";
export { textWidth } from "../../../src/cli/text/columns.ts";
export { wordsOf } from "../../../src/cli/text/language.ts";
export { Progress } from "../../../src/cli/text/progress.ts";
export {
  ageOf,
  countOf,
  intervalOf,
  messagesOf,
  numberOf,
  portOf,
  secondsOf,
  budgetListOf,
  tokensOf,
} from "../../../src/cli/values.ts";
