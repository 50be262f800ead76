/** Window functions of other libraries, from their own packages, each behind the same budget guard. */
import type { Message, Part } from "../../src/message/message.ts";
import { resultText } from "../../src/message/message.ts";
import { groupSteps } from "../../src/message/step.ts";
import type { MessageTokens } from "../../src/replay/cost-metric.ts";
import { installedPeer } from "../peer.ts";

/** A library's way to make windows. */
export interface WindowPeer {
  readonly name: string;
  /** Whether it is given a budget; the others drop by other rules. */
  readonly keepsBudget: boolean;
  /** What of a history it sends; every tool message holds one result. */
  window(history: readonly Message[], budget: number, tokens: MessageTokens): Promise<readonly Message[]>;
}

/** The peers that could be installed, and for the others why not. */
export interface WindowPeers {
  readonly peers: readonly WindowPeer[];
  readonly missing: readonly string[];
}

/** Loads every peer; they are installed in a temporary folder the first time. */
export async function loadWindowPeers(): Promise<WindowPeers> {
  const peers: WindowPeer[] = [];
  const missing: string[] = [];
  for (const [name, load] of [
    [langchain, loadLangchain],
    [aiSdk, loadAiSdk],
    [mastra, loadMastra],
  ] as const) {
    try {
      peers.push(...(await load()));
    } catch (error) {
      missing.push(`${name} was left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  return { peers, missing };
}

/**
 * The guard all peers stand behind: system and task are kept, and of the rest the oldest whole steps are dropped until
 * the window fits.
 */
export function guarded(window: readonly Message[], budget: number, tokens: MessageTokens): readonly Message[] {
  let excess = tokens.sum(window) - budget;
  if (excess <= 0) return window;
  const task = window.find((message) => message.role === "user");
  const dropped = new Set<Message>();
  for (const step of groupSteps(window)) {
    const messages = step.messages.map(({ message }) => message);
    if (excess <= 0) break;
    if (step.kind === "system" || messages.includes(task as Message)) continue;
    for (const message of messages) dropped.add(message);
    excess -= tokens.sum(messages);
  }
  return window.filter((message) => !dropped.has(message));
}

const split = new WeakMap<Message, readonly Message[]>();

/** A history with one result in a tool message, as these libraries have it. */
export function oneResultEach(history: readonly Message[]): readonly Message[] {
  return history.flatMap((message) => {
    if (message.role !== "tool" || message.parts.length < 2) return [message];
    let parts = split.get(message);
    if (!parts) {
      parts = message.parts.map((part, at) => ({ ...message, id: `${message.id}/${at}`, parts: [part] }));
      split.set(message, parts);
    }
    return parts;
  });
}

/** Messages as a library has them: each made once, and found again by what it was made as. */
class Made<T extends object> {
  readonly #make: (message: Message) => T;
  readonly #made = new WeakMap<Message, T>();
  readonly #origins = new WeakMap<object, Message>();

  constructor(make: (message: Message) => T) {
    this.#make = make;
  }

  of(message: Message): T {
    let made = this.#made.get(message);
    if (!made) {
      made = this.#make(message);
      this.#made.set(message, made);
      this.#origins.set(made, message);
    }
    return made;
  }

  origin(made: object): Message {
    return this.#origins.get(made) as Message;
  }
}

const langchain = "@langchain/core@1.4.0";

interface LangchainMessage {
  readonly id?: string;
}

type LangchainClass = new (fields: object) => LangchainMessage;

/** The few things of `@langchain/core/messages` that are used. */
interface LangchainMessages {
  readonly SystemMessage: LangchainClass;
  readonly HumanMessage: LangchainClass;
  readonly AIMessage: LangchainClass;
  readonly ToolMessage: LangchainClass;
  trimMessages(
    messages: readonly LangchainMessage[],
    options: object,
  ): Promise<readonly (LangchainMessage | undefined)[]>;
}

async function loadLangchain(): Promise<readonly WindowPeer[]> {
  const url = installedPeer([langchain], `export * from "@langchain/core/messages";\n`);
  const library = (await import(url)) as LangchainMessages;
  const name = `${langchain} trimMessages`;
  return [
    { name: `${name}, startOn human`, keepsBudget: true, window: trimmer(library, { startOn: "human" }) },
    { name, keepsBudget: true, window: trimmer(library, {}) },
  ];
}

function trimmer(library: LangchainMessages, options: object): WindowPeer["window"] {
  // It hands copies back, which keep the id.
  const numbers = new Map<string, Message>();
  const made = new Made((message) => {
    const id = String(numbers.size);
    numbers.set(id, message);
    return toLangchain(library, message, id);
  });
  const origin = ({ id = "" }: LangchainMessage): Message => numbers.get(id) as Message;
  return async (history, budget, tokens) => {
    const kept = await library.trimMessages(
      history.map((message) => made.of(message)),
      {
        maxTokens: budget,
        strategy: "last",
        includeSystem: true,
        tokenCounter: (messages: readonly LangchainMessage[]) =>
          messages.reduce((total, message) => total + tokens.of(origin(message)), 0),
        ...options,
      },
    );
    return kept.filter((message) => message !== undefined).map(origin);
  };
}

function toLangchain(library: LangchainMessages, message: Message, id: string): LangchainMessage {
  const content = textOf(message);
  const [first] = message.parts;
  if (message.role === "system") return new library.SystemMessage({ id, content });
  if (message.role === "assistant") {
    const calls = message.parts.flatMap((part) =>
      part.type === "tool-call" ? [{ id: part.callId, name: part.name, args: part.args, type: "tool_call" }] : [],
    );
    return new library.AIMessage({ id, content, tool_calls: calls });
  }
  if (first?.type !== "tool-result") return new library.HumanMessage({ id, content });
  return new library.ToolMessage({ id, content: resultText(first), tool_call_id: first.callId });
}

function textOf(message: Message): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

const aiSdk = "ai@6.0.326";

/** A message as the AI SDK and Mastra have it. */
interface ModelMessage {
  readonly role: string;
  readonly content: string | readonly object[];
}

async function loadAiSdk(): Promise<readonly WindowPeer[]> {
  const url = installedPeer([aiSdk], `export * from "ai";\n`);
  const library = (await import(url)) as { pruneMessages(options: object): readonly ModelMessage[] };
  const origins = new WeakMap<object, { readonly message: Message; readonly part: Part }>();
  const made = new Made((message): ModelMessage => {
    const content = message.parts.map((part) => {
      const one = toModelPart(part);
      origins.set(one, { message, part });
      return one;
    });
    return { role: message.role, content };
  });
  return [
    {
      name: `${aiSdk} pruneMessages, before-last-10`,
      keepsBudget: false,
      window: async (history) => {
        const pruned = library.pruneMessages({
          messages: history.map((message) => made.of(message)),
          reasoning: "before-last-message",
          toolCalls: "before-last-10-messages",
        });
        return pruned.flatMap(({ content }) => {
          const kept = (content as readonly object[]).flatMap((part) => origins.get(part) ?? []);
          const [first] = kept;
          if (!first) return [];
          const whole = kept.length === first.message.parts.length;
          return [whole ? first.message : { ...first.message, parts: kept.map(({ part }) => part) }];
        });
      },
    },
  ];
}

function toModelPart(part: Part): object {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text };
    case "tool-call":
      return { type: "tool-call", toolCallId: part.callId, toolName: part.name, input: part.args };
    case "tool-result": {
      const output = { type: "text", value: resultText(part) };
      return { type: "tool-result", toolCallId: part.callId, toolName: part.name ?? "tool", output };
    }
    default:
      return { type: "text", text: `[${part.type}]` };
  }
}

const mastra = "@mastra/core@1.71.0";

/** The one method of Mastra's TokenLimiterProcessor that is used; nothing comes back where all fits. */
interface TokenLimiter {
  processLLMRequest(request: {
    readonly prompt: readonly ModelMessage[];
  }): Promise<{ readonly prompt: readonly ModelMessage[] } | undefined>;
}

async function loadMastra(): Promise<readonly WindowPeer[]> {
  const url = installedPeer([mastra], `export { TokenLimiterProcessor } from "@mastra/core/processors";\n`);
  const { TokenLimiterProcessor } = (await import(url)) as {
    readonly TokenLimiterProcessor: new (limit: number) => TokenLimiter;
  };
  const made = new Made((message): ModelMessage => {
    const content = message.role === "system" ? textOf(message) : message.parts.map(toModelPart);
    return { role: message.role, content };
  });
  return [
    {
      name: `${mastra} TokenLimiter`,
      keepsBudget: true,
      window: async (history, budget) => {
        const prompt = history.map((message) => made.of(message));
        const limited = await new TokenLimiterProcessor(budget).processLLMRequest({ prompt });
        return limited ? limited.prompt.map((message) => made.origin(message)) : history;
      },
    },
  ];
}
