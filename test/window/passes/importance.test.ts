import { describe, expect, it } from "vitest";
import type { Message, Part } from "windrow";
import { importanceOf } from "../../kit/inside/window.ts";

const say = (text: string, role: Message["role"] = "assistant"): Message => ({
  id: "m",
  role,
  parts: [{ type: "text", text }],
});
const part = (...parts: readonly Part[]): Message => ({ id: "m", role: "assistant", parts });
const call = (name: string, args: Record<string, string> = {}): Part => ({
  type: "tool-call",
  callId: "c",
  name,
  args,
});
const result = (content: string, rest: Partial<Extract<Part, { type: "tool-result" }>> = {}): Message => ({
  id: "m",
  role: "tool",
  parts: [{ type: "tool-result", callId: "c", content, ...rest }],
});
const image: Part = { type: "image", mediaType: "image/png", url: "https://example.org/screen.png" };

describe("seed 000's table", () => {
  it.each([
    ["a plain message", say("I look at the page."), 0.5],
    ["an error result", result("no such element", { isError: true }), 0.8],
    ["an error by its text", result("TypeError: x is not a function\n    at main.ts:3"), 0.8],
    ["an error by its last line", result("Traceback (most recent call last):\n  File a.py\nValueError: bad"), 0.8],
    ["an error in Japanese", say("エラー: ファイルがありません"), 0.8],
    ["an error in a field", result('{"error":"not found"}'), 0.8],
    ["a failed state", result('{"step":3,"status":"failed"}'), 0.8],
    ["no errors", say("There were no errors."), 0.5],
    ["an empty error field", result('{"error":null,"items":[]}'), 0.5],
    ["done, as a call", part(call("done")), 0.8],
    ["done, as an action", part(call("act", { action: "done" })), 0.8],
    ["done, in words", say("Done. The page is open."), 0.8],
    ["完了", say("完了しました"), 0.8],
    ["not done", say("Done is better than perfect"), 0.5],
    ["a think in the planning phase", part(call("think", { phase: "planning" })), 0.7],
    ["a think in another phase", part(call("think", { phase: "verification" })), 0.5],
    ["a screenshot", part(image), 0.6],
    ["a screenshot in a result", result("", { content: [image] }), 0.6],
    ["elementsJson", result("{}", { name: "elementsJson" }), 0.4],
    ["webElements", result("[]", { name: "webElements" }), 0.4],
    ["a planning screenshot", part(call("think", { phase: "planning" }), image), 0.8],
    ["an error twice", part(...say("Error: one").parts, ...say("Error: two").parts), 0.8],
  ])("%s", (_, message, score) => {
    expect(importanceOf([message])).toBe(score);
  });

  it("is clamped to 1, and each factor counts once over a step", () => {
    expect(importanceOf([part(call("done")), result("Error: 404", { isError: true })])).toBe(1);
    expect(importanceOf([part(call("elementsJson")), result("{}")])).toBe(0.4);
  });

  it("takes a host's own number, and other weights", () => {
    expect(importanceOf([{ ...say("x"), extra: { importance: 0.9 } }])).toBe(0.9);
    expect(importanceOf([result("x", { isError: true })], { error: 0.5 })).toBe(1);
  });
});

/** Reports, which stand between bars and on lines of their own. */
const words = (texts: string): readonly string[] => texts.trim().split(/\s*[|\n]\s*/);

describe("reports in words", () => {
  it.each([
    ...words(`
      error, giving up | Error 404 | Failed to open Safari | Unable to find the button
      Could not connect to the server | エラーです | エラーが発生しました。 | クリックに失敗しました
      ファイルを開くことができませんでした。 | 操作失败 | 点击失败：找不到元素 | 无法打开文件 | 錯誤：找不到檔案
    `),
    "I clicked it.\nFailed to upload, because the disk is full.",
  ])("an error: %s", (text) => {
    expect(importanceOf([say(text)])).toBe(0.8);
  });

  it.each(
    words(`
      No error occurred. | 0 errors, 12 tests passed | No tests failed. | 5 passed, 0 failed
      If it failed to load, retry. | Error handling is in src/errors.ts | The error-free build is in dist.
      exit code 0 | Should the click fail, an error occurred message is shown | Did an error occur?
      What happens when an error has occurred | I fixed the failed login test. | エラーはありません
      エラーは発生しませんでした | エラーが発生した場合は再試行します | 失敗した場合は戻ります | 失敗しませんでした
      エラーですか？ | エラー処理を追加します | 没有错误 | 未发生错误 | 如果失败，请重试 | 操作失败了吗？
      错误处理在这里 | 失败的测试在这里 | If the request timed out, try again | The request never timed out
      Wait until it has timed out | タイムアウトしませんでした | タイムアウトしたら再試行します | 没有超时。
      如果超时，请重试 | 请求超时了吗？ | 超时时间是 30 秒
    `),
  )("no error: %s", (text) => {
    expect(importanceOf([say(text)])).toBe(0.5);
  });

  it.each(
    words(`
      All done | All done! | Finished successfully | Task completed successfully. | The task has been completed. | タスクを完了しました
      タスクが完了しました | 作業が完了しました | すべて完了です。 | 任务已完成 | 任务完成。
      已经全部完成了 | 任務已完成
    `),
  )("a completion: %s", (text) => {
    expect(importanceOf([say(text)])).toBe(0.8);
    expect(importanceOf([say(text, "user")])).toBe(0.5);
  });

  it.each(
    words(`
      Not done yet. | Once the task is completed, tell me. | I have not completed the task.
      I have completed the first step. | Is the task done? | The task is almost done. | Done is better than perfect
      Completed 3 of 10 steps | 完了していません | 完了しましたか？ | タスクが完了したら教えてください | 未完了です
      任务未完成 | 任务还没完成 | 任务完成了吗？ | 完成后请告诉我
    `),
  )("no completion: %s", (text) => {
    expect(importanceOf([say(text)])).toBe(0.5);
  });

  it.each([
    [{ success: false }, 0.8],
    [{ ok: false, items: [] }, 0.8],
    [{ stdout: "{}", exitCode: 1, stderr: "no such file" }, 0.8],
    [{ exit_code: "2" }, 0.8],
    [{ returnCode: -1 }, 0.8],
    [{ success: true }, 0.5],
    [{ ok: true, exitCode: 0 }, 0.5],
    [{ results: [{ success: false }] }, 0.5],
    [{ error: 0 }, 0.5],
  ])("a result %j scores %d", (response, score) => {
    expect(importanceOf([result(JSON.stringify(response))])).toBe(score);
  });
});
