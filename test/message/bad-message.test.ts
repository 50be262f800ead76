/** A wrong message is refused in the words of the message format, with what would be right. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";

const text = { type: "text", text: "x" };
const kinds = "text, reasoning, image, file, tool-call, tool-result, opaque";

it.each([
  [5, 'it is no object such as { role: "user", parts: [{ type: "text", text }] }.'],
  [{ role: "user" }, "parts: is missing: it is a list."],
  [{ role: "user", parts: "x" }, "parts: is a list."],
  [{ role: "user", parts: Buffer.from("x") }, ""],
  [{ role: "bot", parts: [text] }, "role: is one of `system`, `user`, `assistant`, `tool`."],
  [{ role: "user", parts: [{ type: "txt" }] }, `parts.0.type: is none of the kinds of a part: ${kinds}.`],
  [{ role: "user", parts: [text], name: "Ann" }, "there is no field `name`."],
])("append(%j)", async (message, said) => {
  const manager = await SessionManager.open({ store: "ram:", budget: 8_000 });
  const session = await manager.create();
  const refused = { code: "bad-message", message: expect.stringContaining(`This is not a message: ${said}`) as string };
  await expect(session.append(message as never)).rejects.toMatchObject(refused);
  await manager.close();
});
