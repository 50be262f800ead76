/** pi's own coding agent, 0.87.1, on a faux model: its session file, its tools' loop, its extensions, no network. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load, workTools } from "./host.mjs";

const pi = await load("pi-coding-agent");
const { fauxProvider } = await load("pi-ai");
/** The package with Windrow's extension: this repository, as `pi install` would take it. */
export const ownPackage = fileURLToPath(new URL("../..", import.meta.url));
export const question = "Where are the totals computed?";

/**
 * A session of pi's coding agent.
 *
 * @param given.place - the folder that holds all of it: settings, credentials, session files
 * @param given.script - the model's answers, in order
 * @param given.extensions - packages or files of extensions, as `pi -e` takes them
 * @param given.sessionFile - an earlier session to go on with
 */
export async function codingAgent({ place, script, extensions = [ownPackage], sessionFile, flags = {}, ...given }) {
  const { model = {}, compaction = {}, factories = [], execute } = given;
  const faux = fauxProvider({
    models: [{ id: "faux", contextWindow: 128_000, maxTokens: 8_192, input: ["text"], reasoning: true, ...model }],
  });
  const contexts = [];
  faux.setResponses(
    script.map((answer) => async (context) => {
      contexts.push(structuredClone(context.messages));
      return typeof answer === "function" ? await answer(context) : answer;
    }),
  );
  const agentDir = join(place, "agent");
  const modelRuntime = await pi.ModelRuntime.create({
    authPath: join(agentDir, "auth.json"),
    modelsPath: null,
    modelsStorePath: join(agentDir, "models-store.json"),
    refreshOnCreate: false,
  });
  await modelRuntime.registerNativeProvider(faux.provider);
  const settingsManager = pi.SettingsManager.inMemory({
    compaction: { enabled: true, ...compaction },
    retry: { enabled: false },
  });
  const resourceLoader = new pi.DefaultResourceLoader({
    cwd: place,
    agentDir,
    settingsManager,
    additionalExtensionPaths: extensions,
    extensionFactories: factories,
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
  });
  await resourceLoader.reload();
  const sessions = join(place, "sessions");
  const { session, extensionsResult } = await pi.createAgentSession({
    cwd: place,
    agentDir,
    model: faux.getModel(),
    thinkingLevel: "off",
    modelRuntime,
    settingsManager,
    resourceLoader,
    customTools: workTools(execute),
    noTools: "builtin",
    sessionManager: sessionFile
      ? pi.SessionManager.open(sessionFile, sessions)
      : pi.SessionManager.create(place, sessions),
  });
  for (const [name, value] of Object.entries(flags)) extensionsResult.runtime.flagValues.set(name, value);
  const notices = [];
  const errors = [];
  const nothing = () => undefined;
  const uiContext = {
    notify: (text, type) => notices.push({ text, type }),
    setStatus: nothing,
    setWidget: nothing,
    setWorkingMessage: nothing,
  };
  await session.bindExtensions({ uiContext, mode: "rpc", onError: (error) => errors.push(error) });
  return { session, contexts, notices, errors, faux, problems: extensionsResult.errors, extensionsResult };
}
