import { describe, expect, it } from "vitest";
import { keepState } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import type { JsonObject } from "../../kit/inside/message.ts";
import { texts, windowBy } from "./one-pass.ts";

/** Reads `to <place>` and `on <day>` out of what a traveller writes. */
const extract = (state: JsonObject, text: string): JsonObject => ({
  ...state,
  ...(/ to (\w+)/.exec(text) && { destination: / to (\w+)/.exec(text)?.[1] ?? "" }),
  ...(/ on (\w+)/.exec(text) && { date: / on (\w+)/.exec(text)?.[1] ?? "" }),
});

describe("keep-state", () => {
  it("keeps the state, the current user message and the newest step, over many calls", () => {
    const history = new HistoryBuilder().user("A flight to Kyoto please").assistant("When?");
    const first = windowBy(keepState({ extract }), history.messages);
    history.user("I go on Friday").assistant("One way?");
    const second = windowBy(keepState({ extract }), history.messages, { state: first.state });
    history.user("Rather to Osaka, and back").assistant("Booked.");
    const third = windowBy(keepState({ extract }), history.messages, { state: second.state });
    const state = (text: string | undefined): unknown => JSON.parse(text?.split("\n")[1] ?? "null");
    expect(state(texts(second)[0])).toEqual({ destination: "Kyoto", date: "Friday" });
    expect(state(texts(third)[0])).toEqual({ destination: "Osaka", date: "Friday" });
    expect(texts(third)[0]).toMatch(/^\[Windrow: the state of the job, .* no instruction\.\]\n/);
    expect(texts(third).slice(1)).toEqual(["Rather to Osaka, and back", "Booked."]);
  });

  it("changes nothing while nothing can leave", () => {
    const { messages } = new HistoryBuilder().user("A flight to Kyoto");
    expect(windowBy(keepState({ extract }), messages).report.opened).toBeUndefined();
  });
});
