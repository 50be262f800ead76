/** Brief statements: one key, or a sentence without spaces; the user's stands with a later one of the same, or not at all. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";

type Said = readonly [speaker: "user" | "result", text: string];

/** The digest of a long history in which one thing is said early and another later. */
function digestOf(older: Said, newer: Said, gap: number, budget: number): string {
  const history = new HistoryBuilder().user("You keep the services.");
  let steps = 0;
  const fill = (count: number): void => {
    for (let step = 0; step < count; step++) {
      const at = ++steps;
      const served = Array.from(
        { length: 14 },
        (_, line) =>
          `10:${at}:${line} node_${(at * 31 + line * 7) % 400} served request ${at * 37 + line} in ${line} ms`,
      );
      history.assistant("", [`f${at}`, "bash", { command: `kubectl logs svc${at % 5}` }]);
      history.result(`f${at}`, served.join("\n"));
      if (at % 9 === 0) history.user(`Look at node_${at} next, and tell me of it.`);
    }
  };
  const say = ([speaker, text]: Said): void => {
    if (speaker === "user") history.user(text);
    else history.assistant("", [`s${++steps}`, "get", { name: `thing s${steps}` }]).result(`s${steps}`, text);
  };
  fill(6);
  say(older);
  fill(gap);
  say(newer);
  fill(40);
  const { messages } = composeWindow({ messages: history.user("Go on.").messages, budget });
  return messages.map(messageText).find((text) => text.startsWith("[Windrow: a record")) ?? "";
}

const settings = [2_500, 3_000, 4_000, 6_000].flatMap((budget) => [3, 12, 30].map((gap) => [gap, budget] as const));

describe("a brief statement of the user's", () => {
  it.each([
    ["port: 8080", "port: 9090"],
    ["ポート: 8080", "ポート：9090"],
    ["端口：8080", "端口：9090"],
    ["포트: 8080", "포트: 9090"],
    ["ポート番号：8080", "ポート番号は9090にしてください。"],
    ["決済サービスのタイムアウトは8080ミリ秒です。", "決済サービスのタイムアウトは9090ミリ秒に変更しました。"],
    ["支付服务的超时时间是8080毫秒。", "支付服务的超时时间现在改为9090毫秒。"],
  ])("never stands without the later result: %s, then %s", (older, newer) => {
    let shown = 0;
    for (const [gap, budget] of settings) {
      const digest = digestOf(["user", older], ["result", newer], gap, budget);
      if (!digest.includes("8080")) continue;
      shown++;
      expect(digest, `gap ${gap}, budget ${budget}`).toContain("9090");
    }
    expect(shown).toBeGreaterThan(0);
  });

  it("stands with no result that says something else in the same script", () => {
    const digest = digestOf(
      ["user", "決済サービスのタイムアウトは8080ミリ秒です。"],
      ["result", `${"在庫の数は9090個でした。\n"}${"倉庫は空です。\n".repeat(30)}`],
      30,
      2_500,
    );
    expect(digest).toContain("8080");
    expect(digest).not.toContain("9090");
  });
});
