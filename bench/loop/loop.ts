/**
 * The closed loop: scripted agents solve long jobs with tools in memory and decide from the text of their windows alone.
 * A full history solves every job, so that what a policy loses is due to its windows.
 */
import { recallDeclaration } from "../../src/adapter/host/recall-tool.ts";
import { isWindrowError, WindrowError } from "../../src/errors.ts";
import { resultText, toolCalls } from "../../src/message/message.ts";
import type { JsonObject, Message, ToolDefinition } from "../../src/message/message.ts";
import { CostTally, MessageTokens } from "../../src/replay/cost-metric.ts";
import { countTools } from "../../src/tokens/counter.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import { validateWindow } from "../../src/window/provider/validate.ts";
import type { Action, Job, Mistake } from "./jobs/job.ts";
import type { Finding, SeenMessage } from "./jobs/view.ts";
import type { LoopPolicy, LoopWindows } from "./policy.ts";
import type { Reader } from "./reader.ts";

/** A window as an agent reads it. */
export interface LoopSight {
  /** The values that were needed, and where they were found. */
  readonly findings: readonly Finding[];
}

/** A job whose agent decides from a `Sight` of each window. */
export interface LoopJob<Sight extends LoopSight> extends Omit<Job, "turn"> {
  /** Acts on a user's message, call by call; the last action is returned. */
  turn(message: string, sight: Sight): Generator<Action, Action, Sight>;
}

/** How a job is run. */
export interface LoopOptions<Sight extends LoopSight> {
  readonly policy: LoopPolicy;
  /** Reads a window for the job's agent. */
  readonly see: (messages: readonly SeenMessage[], hasRecall: boolean) => Sight;
  readonly reader: Reader;
  /** Tokens that a request may use. */
  readonly budget: number;
  /** Counts tokens; a text may be counted often. */
  readonly counter: TokenCounter;
  /** The most calls of the model; a job that needs more has failed. */
  readonly mostCalls: number;
  /** Hears of every call. */
  readonly onCall?: (call: LoopCall) => void;
}

/** One call of the agent's model. */
export interface LoopCall {
  readonly number: number;
  /** Tokens of the request, tools among them. */
  readonly tokens: number;
  readonly messages: number;
  /** Whether the window did more than grow at its end. */
  readonly isRewritten: boolean;
  /** The values that were needed, and where they were found. */
  readonly findings: readonly Finding[];
  readonly action: Action;
  /** The actions that turned out to be wrong. */
  readonly mistakes: readonly Mistake[];
  /** The answers of recall. */
  readonly recalled: readonly string[];
  /** The messages of the window. */
  readonly window: readonly Message[];
}

/** The outcome of a job. */
export interface LoopResult {
  /** Whether every action was right, and the job came to its end with requests that a provider takes. */
  readonly solved: boolean;
  /** Actions that could be right or wrong. */
  readonly actions: number;
  /** Actions that were wrong, those on void facts left out. */
  readonly wrong: number;
  /** Actions on facts that had been replaced. */
  readonly voids: number;
  /** Calls of the model. */
  readonly calls: number;
  /** Whether the job was ended at its limit of calls. */
  readonly isCut: boolean;
  /** Million input-token equivalents: cached ones at 0.1, written ones at 1.25. */
  readonly cost: number;
  readonly recalls: number;
  /** Tokens of all answers of recall. */
  readonly recallTokens: number;
  /** Answers of recall that quote another one. */
  readonly quotedRecalls: number;
  /** Requests over the budget, or with a fault that a provider refuses. */
  readonly refused: number;
  /** Tokens of the whole history at the end. */
  readonly historyTokens: number;
  /** Tokens of the largest request. */
  readonly peakTokens: number;
}

const profile = profileOf("openai-chat");

/**
 * Runs a job to its end, to a window that cannot be made, or to the limit of calls.
 *
 * @throws WindrowError `aborted`, and what the policy throws beside `over-budget` and `budget-too-small`
 */
export async function runLoop<Sight extends LoopSight>(
  job: LoopJob<Sight>,
  options: LoopOptions<Sight>,
  signal?: AbortSignal,
): Promise<LoopResult> {
  const { policy, budget, counter } = options;
  const tokens = new MessageTokens(counter);
  const tools = toolsOf(job, policy.hasRecall);
  const room = budget - countTools(counter, tools);
  const windows = await policy.start({ budget, room, system: job.system, tools, counter, tokens });
  try {
    return await new Running(job, windows, tools, tokens, options).run(signal);
  } finally {
    await windows.close();
  }
}

function toolsOf({ tools }: Pick<Job, "tools">, hasRecall: boolean): readonly ToolDefinition[] {
  const own = tools.map(({ name, description, args }): ToolDefinition => {
    const properties: JsonObject = Object.fromEntries(args.map((arg) => [arg, { type: "string" }]));
    return { name, description, inputSchema: { type: "object", properties, required: args } };
  });
  return hasRecall ? [...own, recallDeclaration as ToolDefinition] : own;
}

/** One job under way. */
class Running<Sight extends LoopSight> {
  readonly #job: LoopJob<Sight>;
  readonly #windows: LoopWindows;
  readonly #tokens: MessageTokens;
  readonly #toolTokens: number;
  readonly #toolMessage: Message;
  readonly #options: LoopOptions<Sight>;
  readonly #tally: CostTally;
  readonly #seen = new WeakMap<Message, SeenMessage>();
  #window: readonly Message[] = [];
  #requestTokens = 0;
  #peakTokens = 0;
  #rewritten = false;
  #messages = 0;
  #historyTokens = 0;
  #calls = 0;
  #turns = 0;
  #refused = 0;
  /** The heads of all that recall answered. */
  readonly #heads = new Set<string>();
  #recalls = 0;
  #recallTokens = 0;
  #quoted = 0;
  #told = 0;

  constructor(
    job: LoopJob<Sight>,
    windows: LoopWindows,
    tools: readonly ToolDefinition[],
    tokens: MessageTokens,
    options: LoopOptions<Sight>,
  ) {
    this.#job = job;
    this.#windows = windows;
    this.#tokens = tokens;
    this.#options = options;
    this.#tally = new CostTally(tokens);
    this.#toolTokens = countTools(options.counter, tools);
    // The tools are sent and paid for with every request.
    this.#toolMessage = { id: "tools", role: "system", parts: [{ type: "text", text: JSON.stringify(tools) }] };
  }

  async run(signal?: AbortSignal): Promise<LoopResult> {
    let ended = false;
    let isCut = false;
    try {
      let answer = "";
      for (;;) {
        const message = this.#job.next(answer);
        if (message === undefined) break;
        await this.#append({ role: "user", parts: [{ type: "text", text: message }] });
        answer = await this.#turn(message, signal);
      }
      ended = true;
    } catch (error) {
      if (error instanceof CallLimit) isCut = true;
      else if (isWindrowError(error) && ["over-budget", "budget-too-small"].includes(error.code)) this.#refused++;
      else throw error;
    }
    const { actions, mistakes } = this.#job.score;
    return {
      solved: ended && mistakes.length === 0 && this.#refused === 0,
      actions,
      wrong: mistakes.filter(({ isVoid }) => !isVoid).length,
      voids: mistakes.filter(({ isVoid }) => isVoid).length,
      calls: this.#calls,
      isCut,
      cost: this.#tally.result().equivalents,
      recalls: this.#recalls,
      recallTokens: this.#recallTokens,
      quotedRecalls: this.#quoted,
      refused: this.#refused,
      historyTokens: this.#historyTokens,
      peakTokens: this.#peakTokens,
    };
  }

  async #turn(message: string, signal: AbortSignal | undefined): Promise<string> {
    this.#turns++;
    let view = await this.#call(signal);
    const turn = this.#job.turn(message, view);
    for (let step = turn.next(); ; step = turn.next(view)) {
      const action = this.#worded(step.value);
      const answered = await this.#act(action);
      this.#tell(view, action, answered);
      if (step.done === true) return action.say ?? "";
      view = await this.#call(signal);
    }
  }

  /** Composes the window of the next call. */
  async #call(signal: AbortSignal | undefined): Promise<Sight> {
    if (signal?.aborted) throw new WindrowError("aborted", "The loop was aborted; its figures are lost.");
    const { policy, budget, mostCalls } = this.#options;
    if (this.#calls >= mostCalls) throw new CallLimit();
    this.#calls++;
    const window = await this.#windows.window();
    this.#rewritten = this.#window.some((message, at) => !isSame(message, window[at]));
    this.#window = window;
    this.#tally.add([this.#toolMessage, ...window]);
    this.#requestTokens = this.#tokens.sum(window) + this.#toolTokens;
    this.#peakTokens = Math.max(this.#peakTokens, this.#requestTokens);
    const isOver = policy.keepsBudget && this.#requestTokens > budget;
    if (isOver || validateWindow(window, profile).length > 0) this.#refused++;
    const { see, reader } = this.#options;
    const seen = window.map((message) => this.#read(message));
    return see(
      reader.notices(seen, this.#requestTokens, this.#turns),
      policy.hasRecall && reader.thinksOfRecall(this.#turns),
    );
  }

  #read(message: Message): SeenMessage {
    let seen = this.#seen.get(message);
    if (!seen) this.#seen.set(message, (seen = seenOf(message)));
    return seen;
  }

  /** The action with recall asked as the reader asks. */
  #worded(action: Action): Action {
    const { reader } = this.#options;
    const calls = action.calls?.map((call) =>
      call.tool === recallDeclaration.name ? { ...call, args: reader.asks(call.args) } : call,
    );
    return { ...action, ...(calls && { calls }) };
  }

  /** Adds what the model says, and the results of its calls; answers with what recall said. */
  async #act({ say = "", calls = [] }: Action): Promise<readonly string[]> {
    const made = calls.map((call, at) => ({ ...call, callId: `call_${this.#calls}_${at}` }));
    await this.#append({
      role: "assistant",
      parts: [
        ...(say === "" ? [] : [{ type: "text" as const, text: say }]),
        ...made.map(({ callId, tool, args }) => ({ type: "tool-call" as const, callId, name: tool, args })),
      ],
    });
    const recalled: string[] = [];
    for (const { callId, tool, args } of made) {
      const content = tool === recallDeclaration.name ? await this.#recall(args) : this.#job.run({ tool, args });
      if (tool === recallDeclaration.name) recalled.push(content);
      await this.#append({ role: "tool", parts: [{ type: "tool-result", callId, name: tool, content }] });
    }
    return recalled;
  }

  async #recall(args: Readonly<Record<string, unknown>>): Promise<string> {
    const text = (await this.#windows.recall?.(args)) ?? "There is no such tool.";
    this.#recalls++;
    this.#recallTokens += this.#options.counter.count(text);
    const lines = text.split("\n");
    // A head behind the mark of a quotation stood at the beginning of a line in an earlier answer.
    if (lines.some((line) => /^[ |]/.test(line) && this.#heads.has(line.slice(1)))) this.#quoted++;
    for (const line of lines) if (/^\[m\d/.test(line)) this.#heads.add(line);
    return text;
  }

  async #append(message: Omit<Message, "id">): Promise<void> {
    const numbered: Message = { id: `message-${++this.#messages}`, ...message };
    this.#historyTokens += this.#tokens.of(numbered);
    await this.#windows.append(numbered);
  }

  #tell(view: Sight, action: Action, recalled: readonly string[]): void {
    const { mistakes } = this.#job.score;
    const fresh = mistakes.slice(this.#told);
    this.#told = mistakes.length;
    this.#options.onCall?.({
      number: this.#calls,
      tokens: this.#requestTokens,
      messages: this.#window.length,
      isRewritten: this.#rewritten,
      findings: view.findings,
      action,
      mistakes: fresh,
      recalled,
      window: this.#window,
    });
  }
}

/** The agent's model was called as often as the job allows. */
class CallLimit extends Error {}

function isSame(one: Message, other: Message | undefined): boolean {
  return one === other || JSON.stringify([one.role, one.parts]) === JSON.stringify([other?.role, other?.parts]);
}

function seenOf(message: Message): SeenMessage {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return {
    role: message.role,
    text: texts.join("\n"),
    calls: toolCalls(message).map(({ callId, name, args }) => ({ id: callId, tool: name, args: args as JsonObject })),
    results: message.parts.flatMap((part) =>
      part.type === "tool-result" ? [{ id: part.callId, text: resultText(part) }] : [],
    ),
  };
}
