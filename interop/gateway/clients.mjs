/** The coding agents that the suite drives: where each is installed, how it is pointed at an address, its tool that reads. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("clients", import.meta.url));

/** The names of the clients that may be installed, in the order in which they are driven. */
export const names = ["claude-code", "codex", "opencode", "pi", "gemini-cli"];

const modules = (name) => join(here, name, "node_modules");

const packages = {
  "claude-code": "@anthropic-ai/claude-code",
  "codex": "@openai/codex",
  "opencode": "opencode-linux-x64-baseline",
  "pi": "@earendil-works/pi-coding-agent",
  "gemini-cli": "@google/gemini-cli",
};

function write(file, content) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

/** The first file of these that is there. */
const found = (...files) => files.find((file) => existsSync(file));

/** A package's own script, for those that run on Node. */
function script(name, command) {
  const folder = join(modules(name), packages[name]);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[command]);
}

const node = process.env.WINDROW_NODE24 ?? process.execPath;

const table = {
  "claude-code": {
    upstream: "anthropic",
    variables: ["ANTHROPIC_BASE_URL"],
    tool: (folder) => ["Read", { file_path: `${folder}/file{k}.txt` }],
    start({ url, task, more = [] }) {
      const command = found(
        join(modules("claude-code"), "@anthropic-ai", `claude-code-linux-${process.arch}`, "claude"),
        join(modules("claude-code"), "@anthropic-ai/claude-code/bin/claude.exe"),
      );
      const environment = {
        ...(url && { ANTHROPIC_BASE_URL: url }),
        ANTHROPIC_API_KEY: "sk-ant-fake-000000000000",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      return { command, environment, arguments: ["-p", task, ...more] };
    },
    // Without the other variable the number is cut to a few.
    patient: () => ({ environment: { CLAUDE_CODE_MAX_RETRIES: "1000", CLAUDE_CODE_RETRY_WATCHDOG: "1" } }),
  },
  "codex": {
    upstream: "openai",
    variables: ["OPENAI_BASE_URL"],
    tool: () => ["exec_command", { cmd: "cat file{k}.txt" }],
    start({ url, task, more = [] }) {
      const arguments_ = ["exec", "--skip-git-repo-check", "-s", "danger-full-access", "-m", "gpt-5.5"];
      if (url) arguments_.push("-c", `openai_base_url="${url}/v1"`);
      const environment = { OPENAI_API_KEY: "sk-fake-000000", CODEX_API_KEY: "sk-fake-0000" };
      return { command: node, environment, arguments: [script("codex", "codex"), ...arguments_, ...more, task] };
    },
    // The limits of the provider that Codex brings cannot be changed.
    patient(url) {
      const provider = { name: "patient", base_url: `${url}/v1`, wire_api: "responses", env_key: "OPENAI_API_KEY" };
      const limits = { request_max_retries: 100, stream_max_retries: 100 };
      const settings = Object.entries({ ...provider, ...limits }).map(
        ([name, value]) => `model_providers.patient.${name}=${JSON.stringify(value)}`,
      );
      return { more: ['model_provider="patient"', ...settings].flatMap((setting) => ["-c", setting]) };
    },
  },
  "opencode": {
    upstream: "openai",
    variables: ["OPENCODE_CONFIG_CONTENT"],
    tool: (folder) => ["read", { filePath: `${folder}/file{k}.txt` }],
    start({ url, task, home, more = [] }) {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "w",
        options: { ...(url && { baseURL: `${url}/v1` }), apiKey: "sk-fake-000" },
        models: { m1: { name: "m1", limit: { context: 200_000, output: 32_000 }, tool_call: true } },
      };
      write(join(home, ".config/opencode/opencode.json"), {
        $schema: "https://opencode.ai/config.json",
        autoupdate: false,
        share: "disabled",
        enabled_providers: ["w"],
        provider: { w: provider },
        model: "w/m1",
      });
      return {
        command: join(modules("opencode"), "opencode-linux-x64-baseline/bin/opencode"),
        environment: {
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
          OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        },
        arguments: ["run", ...more, task],
      };
    },
  },
  "pi": {
    upstream: "anthropic",
    variables: [],
    tool: () => ["read", { path: "file{k}.txt" }],
    start({ url, task, home, more = [] }) {
      const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
      const model = {
        id: "m1",
        name: "m1",
        reasoning: true,
        input: ["text"],
        contextWindow: 200_000,
        maxTokens: 32_000,
        cost,
      };
      write(join(home, ".pi/agent/models.json"), {
        providers: { w: { baseUrl: url, api: "anthropic-messages", apiKey: "sk-fake-0000", models: [model] } },
      });
      return {
        command: node,
        environment: { PI_OFFLINE: "1" },
        arguments: [script("pi", "pi"), "--provider", "w", "--model", "m1", "-p", ...more, task],
      };
    },
  },
  "gemini-cli": {
    upstream: "gemini",
    variables: ["GOOGLE_GEMINI_BASE_URL"],
    tool: (folder) => ["read_file", { file_path: `${folder}/file{k}.txt` }],
    start({ url, task, home, more = [] }) {
      write(join(home, ".gemini/settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
      });
      return {
        command: node,
        environment: {
          GEMINI_API_KEY: "fake-key-0000",
          GEMINI_CLI_TRUST_WORKSPACE: "true",
          ...(url && { GOOGLE_GEMINI_BASE_URL: url }),
        },
        arguments: [script("gemini-cli", "gemini"), ...more, "-p", task],
      };
    },
  },
};

/** The client of this name, or undefined where it is not installed. */
export function client(name) {
  const manifest = join(modules(name), packages[name], "package.json");
  if (!existsSync(manifest)) return undefined;
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  return { name, version, ...table[name] };
}

/** Files for the clients to read, each unlike the others, of so many bytes. */
export function project(folder, count, bytes) {
  mkdirSync(folder, { recursive: true });
  for (let index = 1; index <= count; index++) {
    let content = "";
    for (let line = 1; content.length < bytes; line++) {
      content += `file ${index} line ${line}: the value of setting ${(index * 7919 + line * 104_729) % 99_991} is kept.\n`;
    }
    writeFileSync(join(folder, `file${index}.txt`), content.slice(0, bytes));
  }
  return readdirSync(folder);
}

/** The script of a scenario for one client's tool. */
export function scriptOf(kind, one, folder, count = 3) {
  const [tool, args] = one.tool(folder);
  const call = `${tool}:${JSON.stringify(args)}`;
  if (kind === "loop") return `loop:${count}:${call}`;
  if (kind === "tool" || kind === "mixed") return `${kind}:${call}`;
  return kind === "sse-error" || kind === "drop" ? `${kind}:1` : kind;
}
