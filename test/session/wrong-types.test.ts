/** Values of another type, or that JSON cannot carry, in the place of texts: what untyped hosts hand over. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "../../src/session/manager/manager.ts";

const circle: Record<string, unknown> = {};
circle["self"] = circle;
let deep: unknown = "x";
for (let level = 0; level < 50_000; level++) deep = [deep];

describe.each([
  ["a circle", circle],
  ["a deep list", deep],
  ["a number", 7],
])("%s where a text belongs", (_name, value) => {
  it("is refused by pins, goals, recall and ids with a code", async () => {
    const manager = await SessionManager.open({ store: "ram:", budget: 10_000 });
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text: "Hi" }] });
    const text = value as string;
    await expect(session.pin(text)).rejects.toMatchObject({ code: "bad-option" });
    await expect(session.pin("x", { until: text })).rejects.toMatchObject({ code: "bad-option" });
    await expect(session.goal.set(text)).rejects.toMatchObject({ code: "bad-option" });
    await expect(session.recall({ id: text })).rejects.toMatchObject({ code: "bad-option" });
    await expect(session.recall({ query: text })).rejects.toMatchObject({ code: "bad-option" });
    await expect(manager.create({ id: text })).rejects.toMatchObject({ code: "session-id-invalid" });
    await expect(manager.resume(text)).rejects.toMatchObject({ code: "session-id-invalid" });
  });
});
