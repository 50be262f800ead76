/** Loops of one's own over a provider's API, by the doors of its shape. */
import {
  anthropicAdapter,
  anthropicRecallTool,
  fromAnthropic,
  toAnthropic,
} from "../../src/adapter/anthropic/anthropic.ts";
import { chatAdapter, chatRecallTool, fromChat, toChat } from "../../src/adapter/chat/chat.ts";
import { fromContents, geminiAdapter, geminiRecallTool, toContents } from "../../src/adapter/gemini/gemini.ts";
import {
  fromResponses,
  responsesAdapter,
  responsesRecallTool,
  toResponses,
} from "../../src/adapter/responses/responses.ts";
import type { Message } from "../../src/message/message.ts";
import { composeWindow } from "../../src/window/compose.ts";
import type { WindowState } from "../../src/window/window.ts";
import type { Session } from "../../src/session/session.ts";
import { budget, first } from "./driven.ts";
import type { Driven, Loose } from "./driven.ts";

type Source = Session | (() => readonly Message[]);

/** What a loop does: it appends what is new, composes, and sends. */
interface Api extends Pick<Driven, "name" | "profile" | "adapter" | "think"> {
  readonly read: (host: readonly never[]) => readonly Message[];
  readonly write: (window: readonly Message[]) => unknown;
  readonly recall: (source: Source, query: object) => Promise<unknown>;
}

const loop = ({ read, write, recall, ...api }: Api): Driven => ({
  ...api,
  isFree: true,
  open(session) {
    let history: readonly Message[] = [];
    let state: WindowState | undefined;
    return {
      async send(host) {
        history = read(host as never);
        if (!session) {
          const window = composeWindow({ messages: history, profile: api.profile, budget, ...(state && { state }) });
          ({ state } = window);
          return write(window.messages);
        }
        await session.append(history.slice(session.stats().messages).map(({ id: _id, ...message }) => message));
        return write((await session.compose({ system: "Be brief." })).messages);
      },
      recall: (query) => recall(session ?? (() => history), query),
    };
  },
});

const args = (query: object): string => JSON.stringify(query);

/** The providers. */
export const apis: readonly Driven[] = [
  loop({
    ...{
      name: "anthropic",
      profile: "anthropic",
      adapter: anthropicAdapter as never,
      read: fromAnthropic,
      write: toAnthropic,
    },
    think: (answer, at) => [
      {
        ...answer,
        content: first(answer["content"], { type: "thinking", thinking: `On ${at}.`, signature: `sig${at}` }),
      },
    ],
    recall: (source, input) => anthropicRecallTool(source).answer({ type: "tool_use", id: "r", name: "recall", input }),
  }),
  loop({
    ...{ name: "chat", profile: "openai-chat", adapter: chatAdapter as never, read: fromChat, write: toChat },
    think: (answer, at) => [{ ...answer, reasoning_content: `On ${at}.` }],
    recall: (source, query) =>
      chatRecallTool(source).answer({ id: "r", function: { name: "recall", arguments: args(query) } }),
  }),
  loop({
    ...{ name: "responses", profile: "openai-responses", adapter: responsesAdapter as never },
    ...{ read: fromResponses, write: toResponses },
    think: (answer, at) => [
      { type: "reasoning", id: `rs_${at}`, summary: [], encrypted_content: `e${at}` } as Loose,
      answer,
    ],
    recall: (source, query) =>
      responsesRecallTool(source).answer({
        type: "function_call",
        call_id: "r",
        name: "recall",
        arguments: args(query),
      }),
  }),
  loop({
    ...{ name: "gemini", profile: "gemini", adapter: geminiAdapter as never, read: fromContents, write: toContents },
    think: (answer, at) => [
      { ...answer, parts: [{ text: `On ${at}.`, thought: true }, ...(answer["parts"] as readonly Loose[])] },
    ],
    recall: (source, query) =>
      geminiRecallTool(source).answer({ functionCall: { id: "r", name: "recall", args: query } }),
  }),
];
