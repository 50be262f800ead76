/** Type-checked, never run: Genkit's own types take what windrow/genkit gives, without a cast. */
import { genkit } from "genkit";
import type { MessageData } from "genkit";
import { fromGenkit, genkitMessages, windowMiddleware } from "windrow/genkit";
import { SessionManager } from "windrow";

const ai = genkit({});
const manager = await SessionManager.open();
const session = await manager.create();
const on = (event: { readonly type: string }): void => console.log(event.type);
const { messages } = await ai.generate({ prompt: "Hi", use: [windowMiddleware({ session, on })] });
const typed: MessageData[] = messages;
console.log(fromGenkit(typed).length);
await ai.generate({
  messages: await genkitMessages<MessageData>(session),
  prompt: "Go on.",
  use: [windowMiddleware({ budget: 60_000 })],
});
