/** Compiles only if the SDKs' own message types go in and out of the adapters without a cast. */
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { anthropicRecallTool, fromAnthropic, toAnthropic } from "../../src/adapter/anthropic/anthropic.ts";
import { chatRecallTool, fromChat, responsesRecallTool, toChat } from "../../src/adapter/chat/chat.ts";
import { fromResponses, toResponses } from "../../src/adapter/responses/responses.ts";
import type { Message } from "../../src/message/message.ts";

export function chatTypes(
  history: OpenAI.ChatCompletionMessageParam[],
  answer: OpenAI.ChatCompletion,
  frozen: readonly Readonly<OpenAI.ChatCompletionMessageParam>[],
): readonly Message[] {
  const own = fromChat(history);
  fromChat(frozen);
  fromChat(answer.choices.map(({ message }) => message));
  const back: OpenAI.ChatCompletionMessageParam[] = toChat(own);
  const request: OpenAI.ChatCompletionCreateParams = { model: "gpt-4o", messages: toChat(own) };
  return fromChat([...back, ...request.messages]);
}

export async function chatCalls(client: OpenAI, messages: readonly Message[]): Promise<void> {
  await client.chat.completions.create({ model: "gpt-4o", messages: toChat(messages) });
  client.chat.completions.stream({ model: "gpt-4o", messages: toChat(messages) });
}

export function anthropicTypes(history: Anthropic.MessageParam[], answer: Anthropic.Message): readonly Message[] {
  const own = fromAnthropic(history);
  fromAnthropic([answer]);
  fromAnthropic([{ role: "assistant", content: answer.content }]);
  const beta: Anthropic.Beta.BetaMessageParam[] = [];
  fromAnthropic(beta);
  const { messages } = toAnthropic<Anthropic.MessageParam>(own);
  return fromAnthropic(messages);
}

export async function anthropicCalls(client: Anthropic, messages: readonly Message[]): Promise<void> {
  const request = toAnthropic<Anthropic.MessageParam>(messages);
  await client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 1_024, ...request });
  await client.messages.countTokens({ model: "claude-sonnet-4-5", ...request });
}

export async function responsesTypes(client: OpenAI, items: OpenAI.Responses.ResponseInputItem[]): Promise<void> {
  const request = toResponses<OpenAI.Responses.ResponseInputItem>(fromResponses(items));
  const response = await client.responses.create({ model: "gpt-5.5", store: false, ...request });
  fromResponses(response.output);
}

export async function recallTools(
  history: OpenAI.ChatCompletionMessageParam[],
  chat: OpenAI.ChatCompletionMessage,
  response: OpenAI.Responses.Response,
  answer: Anthropic.Message,
): Promise<readonly object[]> {
  const ofChat = chatRecallTool(() => fromChat(history), { budget: 32_000 });
  const chatTools: OpenAI.ChatCompletionTool[] = [ofChat.tool];
  for (const call of chat.tool_calls ?? []) history.push((await ofChat.answer(call)) ?? chat);
  const ofResponses = responsesRecallTool(() => fromChat(history));
  const responsesTools: OpenAI.Responses.Tool[] = [ofResponses.tool];
  const input: OpenAI.Responses.ResponseInputItem[] = [];
  for (const item of response.output)
    if (item.type === "function_call") input.push((await ofResponses.answer(item)) ?? item);
  const ofAnthropic = anthropicRecallTool(() => fromChat(history));
  const anthropicTools: Anthropic.Tool[] = [ofAnthropic.tool];
  const blocks: Anthropic.ContentBlockParam[] = [];
  for (const block of answer.content) blocks.push((await ofAnthropic.answer(block)) ?? block);
  return [chatTools, responsesTools, anthropicTools, input, blocks];
}

export const refused = [
  // @ts-expect-error a message has a role
  fromChat([{ content: "Hello" }]),
  // @ts-expect-error an Anthropic message has a role
  fromAnthropic([{ content: "Hello" }]),
];
