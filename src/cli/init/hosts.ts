/** The hosts that `windrow init` writes an agent for: what shows that a project has one, and what its file imports. */
import { nearest } from "../../nearest.ts";
import { WindrowError } from "../../errors.ts";

/** A host, or one version of it. */
export interface InitHost {
  /** The name after `--host`. */
  readonly name: string;
  /** The name for people. */
  readonly label: string;
  /** Packages that show it: any of them in package.json. Empty for the loop without a package. */
  readonly shownBy: readonly string[];
  /** Packages that the agent's file needs, beside Windrow. */
  readonly needs: readonly string[];
  /** The variable with the key of the model's provider; without it a scripted model answers. */
  readonly key: string;
  /** The file below templates/, without its ending. */
  readonly template: string;
  /** Packages of model providers, of which the first that a project has takes the place of the template's own. */
  readonly providers?: readonly InitProvider[];
}

/** A provider of models for a host: its package, its key, and what the template says for it. */
export interface InitProvider {
  readonly package: string;
  readonly key: string;
  /** Texts of the template, and their replacements. Each occurs in it. */
  readonly changes: readonly (readonly [from: string, to: string])[];
}

/**
 * All hosts, in the order in which one is taken where a project has several: frameworks before the AI SDK, and that before
 * the SDKs of providers, since those come with what stands before them.
 */
export const initHosts: readonly InitHost[] = [
  host("mastra", "Mastra", ["@mastra/core"], "ANTHROPIC_API_KEY", ["zod"]),
  host("genkit", "Genkit", ["genkit"], "GEMINI_API_KEY", ["@genkit-ai/google-genai"]),
  host("adk", "Google ADK", ["@google/adk"], "GEMINI_API_KEY", ["@google/genai"]),
  host("openai-agents", "OpenAI Agents", ["@openai/agents"], "OPENAI_API_KEY"),
  {
    ...host("langchain", "LangChain", ["langchain"], "OPENAI_API_KEY", ["@langchain/core", "@langchain/openai"]),
    providers: [
      langchain("openai", "OPENAI_API_KEY", "gpt-5.4-mini"),
      langchain("anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-5"),
      langchain("google-genai", "GOOGLE_API_KEY", "gemini-3.5-flash"),
    ],
  },
  ...["@earendil-works", "@mariozechner"].map((scope) => ({
    name: "pi",
    label: "pi",
    shownBy: [`${scope}/pi-agent-core`, `${scope}/pi-coding-agent`],
    needs: [`${scope}/pi-agent-core`, `${scope}/pi-ai`],
    key: "ANTHROPIC_API_KEY",
    template: scope === "@mariozechner" ? "pi-mariozechner" : "pi",
  })),
  {
    ...host("ai-sdk", "AI SDK", ["ai"], "AI_GATEWAY_API_KEY"),
    providers: [
      aiSdk("anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-5"),
      aiSdk("openai", "OPENAI_API_KEY", "gpt-5.4-mini", ', profile: "openai-responses"'),
      aiSdk("google", "GOOGLE_GENERATIVE_AI_API_KEY", "gemini-3.5-flash"),
    ],
  },
  host("anthropic", "Anthropic SDK", ["@anthropic-ai/sdk"], "ANTHROPIC_API_KEY"),
  host("openai", "OpenAI SDK", ["openai"], "OPENAI_API_KEY"),
  host("gemini", "Google Gen AI SDK", ["@google/genai"], "GEMINI_API_KEY"),
  host("plain", "a plain loop", [], "OPENAI_API_KEY"),
];

/** The names of the hosts, each once. */
export const initHostNames: readonly string[] = [...new Set(initHosts.map(({ name }) => name))];

/** The host of a project, and why it is that one. */
export interface ChosenHost {
  readonly host: InitHost;
  /** The provider of its models whose package the project has. Default: the template's own. */
  readonly provider?: InitProvider;
  /** `chosen` by name, `found` in package.json, or `none` was found. */
  readonly why: "chosen" | "found" | "none";
  /** The package that shows it, where it was found. */
  readonly shownBy?: string;
  /** Names of the other hosts that the project has, in their order. */
  readonly others: readonly string[];
}

/**
 * The host that is named, else the first of {@link initHosts} that a project has, else the plain loop.
 *
 * @throws WindrowError `bad-option` for a name that is none of theirs
 */
export function chooseHost(packages: ReadonlySet<string>, name: string | undefined): ChosenHost {
  const found = initHosts.filter(({ shownBy }) => shownBy.some((one) => packages.has(one)));
  if (name !== undefined && !initHostNames.includes(name)) {
    throw new WindrowError("bad-option", `There is no host "${name}".${nearest(name, initHostNames)}`, { host: name });
  }
  const host = (name === undefined ? found : byName(found, name))[0] ?? byName(initHosts, name ?? "plain")[0]!;
  const shownBy = host.shownBy.find((one) => packages.has(one));
  const others = [...new Set(found.map((other) => other.name))].filter((other) => other !== host.name);
  const why = name !== undefined ? "chosen" : shownBy === undefined ? "none" : "found";
  const provider = host.providers?.find((one) => packages.has(one.package));
  return {
    host: withProvider(host, provider),
    ...(provider && { provider }),
    why,
    ...(shownBy && { shownBy }),
    others,
  };
}

/** The host with a provider's key and package in the place of its own. */
function withProvider(host: InitHost, provider: InitProvider | undefined): InitHost {
  if (!provider) return host;
  const all = new Set(host.providers?.map((one) => one.package));
  return { ...host, key: provider.key, needs: [...host.needs.filter((name) => !all.has(name)), provider.package] };
}

function aiSdk(name: string, key: string, model: string, more = ""): InitProvider {
  const changes = [
    ["AI_GATEWAY_API_KEY", key],
    ["import { generateText", `import { ${name} } from "@ai-sdk/${name}";\nimport { generateText`],
    ['"anthropic/claude-sonnet-5"', `${name}("${model}")`],
    ['model: "claude-sonnet-5" }', `model: "${model}"${more} }`],
  ] as const;
  return { package: `@ai-sdk/${name}`, key, changes };
}

function langchain(name: string, key: string, model: string): InitProvider {
  const changes = [
    ["OPENAI_API_KEY", key],
    ['"openai:gpt-5.4-mini"', `"${name}:${model}"`],
    ['model: "gpt-5.4-mini" }', `model: "${model}" }`],
  ] as const;
  return { package: `@langchain/${name}`, key, changes };
}

function byName(hosts: readonly InitHost[], name: string): readonly InitHost[] {
  return hosts.filter((host) => host.name === name);
}

function host(
  name: string,
  label: string,
  shownBy: readonly string[],
  key: string,
  more: readonly string[] = [],
): InitHost {
  return { name, label, shownBy, needs: [...shownBy, ...more], key, template: name };
}
