/** Reports of errors and of completed work, in English, Japanese and Chinese, and results whose fields say that they failed. */
import { fieldsOf, parseJson, textOf } from "../../message/json.ts";

/** Characters of a line that are looked at: a report says early what it is. */
const lineCharacters = 300;

/** Characters of JSON that is parsed for its fields. */
const jsonCharacters = 64_000;

/** Lines that report an error. */
const errorReports: readonly RegExp[] = [
  /^\s*(?:[[(]|[⚠✗❌]\uFE0F?\s*)?(?:(?:fatal |uncaught |unhandled )?(?:error|exception|panic|fatal|traceback)|[\w.]*[a-z](?:Error|Exception)|エラー|例外|错误|錯誤|异常|異常)\s*(?:[:：(\])]|[,，;.!。！](?:\s|$)|\d|$)/i,
  /^\s*(?:failed to|unable to|could not|couldn['’]t|cannot)\s+\w[^?]*$/i,
  /(?:エラー(?:です|でした|が発生しました)|失敗しました|できませんでした)\s*(?:[。！!:：]|$)/,
  /^\s*(?:\p{Script=Han}{1,4}(?:失败|失敗)|(?:无法|無法)[^吗嗎?？]+)\s*(?:[。！!:：]|$)/u,
];

/** Beginnings of a text that reports that the work is done. */
const completionReports: readonly RegExp[] = [
  /^\s*(?:(?:the |your |this )?(?:task|job|work) (?:is |has been )?(?:now )?)?(?:all )?(?:successfully )?(?:done|completed?|finished)(?: successfully)?\s*(?:[.!:]|$)/i,
  /^\s*(?:(?:タスク|作業|すべて)(?:が|は|を)?)?\s*(?:完了|終了)(?:しました|です|した)?\s*(?:[。！!.]|$)/,
  /^\s*(?:任务|任務|工作|全部)?(?:都)?(?:已经|已經|已)?(?:全部)?(?:完成|完毕|完畢)了?\s*(?:[。！!.]|$)/,
];

/** Whether a text reports an error, in its first line, in its last line, or in a field of its own. */
export function saysError(text: string): boolean {
  return hasFailed(text) || endsOf(text).some((line) => errorReports.some((pattern) => pattern.test(line)));
}

/** Whether a text begins with the report that the work is done. */
export function saysDone(text: string): boolean {
  const [first] = endsOf(text);
  return completionReports.some((pattern) => pattern.test(first));
}

/** The first line of a text and its last one. */
function endsOf(text: string): readonly [string, string] {
  const trimmed = text.trim();
  const first = trimmed.slice(0, lineCharacters).split("\n", 1)[0] ?? "";
  const last = trimmed.slice(-lineCharacters).split("\n").at(-1) ?? "";
  return [first, last];
}

/** Whether a result is JSON whose own fields say that it failed: `error`, a status, `success` or `ok` false, an exit code. */
export function hasFailed(text: string): boolean {
  if (text.length > jsonCharacters || !text.trimStart().startsWith("{")) return false;
  return Object.entries(fieldsOf(parseJson(text))).some(([name, value]) => {
    const plain = name.toLowerCase().replaceAll(/[_-]/g, "");
    if (["error", "iserror"].includes(plain)) return !/^(?:null|false|""|\[\]|\{\}|0)$/.test(JSON.stringify(value));
    if (["status", "state"].includes(plain)) return /^(?:error|failed|failure)$/i.test(textOf(value));
    if (["success", "succeeded", "issuccess", "ok"].includes(plain)) return value === false;
    const isCode = ["exitcode", "exitstatus", "returncode"].includes(plain);
    return isCode && /^-?[1-9]\d*$/.test(typeof value === "number" ? `${value}` : textOf(value));
  });
}
