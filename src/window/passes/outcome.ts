/** Reports of errors and of completed work, in English, Japanese and Chinese, and results whose fields say that they failed. */
import { fieldsOf, parseJson, textOf } from "../../message/json.ts";
import { splitSentences } from "../../message/sentences.ts";

/** Characters of a line that are looked at: a report says early what it is. */
const lineCharacters = 300;

/** Characters of JSON that is parsed for its fields. */
const jsonCharacters = 64_000;

const sign = "(?:[[(]|[⚠✗❌]\\uFE0F?\\s*)?";
const countWord = "(?:one|two|three|four|five|six|seven|eight|nine|ten|#?\\d+|[A-Z]+[-_]?\\d+)";

/** Sentences that say of themselves that they report an error, whatever else stands in them. */
const errorLabels: readonly RegExp[] = [
  new RegExp(
    `^\\s*${sign}(?:(?:fatal |uncaught |unhandled )?(?:error|exception|panic|fatal|traceback)\\b` +
      "|[\\w.]*[a-z](?:Error|Exception)\\b|エラー|例外|错误|錯誤|异常|異常)" +
      "\\s*(?:[:：(\\])]|[,，;.!。！](?:\\s|$)|\\s[-–—]\\s|$|コード|code\\b)",
    "i",
  ),
  new RegExp(`^\\s*error\\s+${countWord}\\s*[.!]?$`, "i"),
  /^\s*(?:unable to|could not|couldn['’]t|cannot)\s+\w[^?]*$/i,
  /できませんでした\s*(?:[。！!:：]|$)/,
  /^\s*(?:无法|無法)\p{Script=Han}[^吗嗎?？]*$/u,
];

/** Sentences that report an error, unless they deny it, ask for it, or suppose it. */
const errorReports: readonly RegExp[] = [
  /\b(?:errors?|exceptions?|failures?)\s+(?:(?:has|have|was|were)\s+)?(?:occurred|happened|thrown|raised|encountered)\b/i,
  /^\s*(?:unhandled |uncaught )?exception\s+(?:in|at|while|during)\b/i,
  /^\s*(?:[\w'’"`./-]+\s+){0,6}failed(?:\s*(?:[:：,.!]|[-–—]\s|$)|\s+(?:to|with|because|due|while|on|at|in)\b)/i,
  /\b(?:exit(?:ed)?|returned)\s+(?:with\s+)?(?:(?:exit\s+)?(?:code|status)\s*[:=]?\s*)?-?[1-9]\d{0,4}\b/i,
  /\b(?:timed out|timeout (?:exceeded|expired|occurred)|(?:permission|access) (?:is |was )?denied)\b/i,
  /タイムアウト(?:です|でした|になりました|が発生しました|しました(?!ら))/,
  /(?:超时|超時|权限被拒绝|權限被拒絕|权限不足|權限不足|拒绝访问|拒絕存取)了?\s*(?:[。！!：:，,]|$)/,
  /(?:エラー|例外|異常)(?:です|でした|になりました|が(?:発生|起き|出)(?:し)?(?:ました|ています|た(?!ら|場合|とき|時|際)))/,
  /失敗(?:です|でした|しました|しています|した(?!ら|場合|とき|時|際|こと|の|テ)|\s*(?:[:：。！!]|$))/,
  /(?:出错|出錯|报错|報錯)(?:了|[:：。！!，,]|\s|$)/,
  /(?:发生|發生|出现|出現|遇到)了?(?:一个|一個|一些)?(?:[\p{Script=Han}]{0,4})?(?:错误|錯誤|异常|異常)/u,
  /(?:失败|失敗)了?\s*(?:[。！!：:，,]|$)/,
];

/** Words before which a sentence reports nothing: it denies, supposes, asks or plans. */
const notReported =
  /\b(?:no|not|none|never|without|zero|0|any|if|when|whenever|whether|unless|once|until|should|would|may|might|will|can|how|why|what|avoid|prevent|handle|fix(?:ed)?|retry|almost|nearly|isn['’]t|wasn['’]t|haven['’]t|hasn['’]t|didn['’]t)\b|没有|沒有|未|不会|不會|如果|若|假如|避免|防止|是否|尚|还没|還沒|もし|防ぐ|避け/i;

/** Ends of a sentence that deny it, or ask. */
const denied =
  /(?:ありません|ませんでした|なかった|ない|なし|ず)\s*[。！!.]?$|(?:ですか|ましたか|か|吗|嗎|呢)\s*[?？。]?$|[?？]\s*$/;

const workWord = "(?:task|job|work|request|mission|everything|all (?:the )?(?:steps|tasks|work))";

/** Sentences that report that the work is done. */
const completionReports: readonly RegExp[] = [
  new RegExp(
    `^\\s*(?:(?:the |your |this )?${workWord} (?:is |are |was |were |has been |have been )?(?:now )?)?` +
      "(?:all )?(?:successfully )?(?:done|completed?|finished)(?: successfully)?\\s*(?:[.!:。！：]|$)",
    "i",
  ),
  new RegExp(
    `^\\s*(?:(?:i|we)(?: have|['’]ve)?(?: now| just)?(?: successfully)? (?:completed|finished|done)|successfully completed) ` +
      `(?:the |your |this )?(?:\\w+ )?${workWord}(?: successfully)?\\s*(?:[.!。！]|$)`,
    "i",
  ),
  /^\s*(?:(?:タスク|作業|仕事|処理|依頼|ご依頼|すべて|全て|全部)(?:の\p{Script=Han}{1,4})?(?:が|は|を|も)?(?:すべて|全て|全部|無事に?|正常に)?)?\s*(?:完了|終了|完成)(?:しました|致しました|いたしました|です|でした|した|済み)?\s*(?:[。！!.]|$)/u,
  /^\s*(?:タスク|作業|仕事|処理|依頼|すべて|全て|全部)(?:が|は|も)(?:すべて|全て|全部)?終わりました/,
  /^\s*(?:所有|全部|全體)?(?:的)?(?:任务|任務|工作|步骤|步驟|操作)?(?:都|均)?(?:已经|已經|已)?(?:全部|顺利|順利|成功)?(?:完成|完毕|完畢|做完|搞定)了?\s*(?:[。！!.]|$)/,
];

/** Whether a text reports an error, in its first line, in its last line, or in a field of its own. */
export function saysError(text: string): boolean {
  if (hasFailed(text)) return true;
  return endsOf(text).some(
    (line) =>
      splitSentences(line).some((sentence) => errorLabels.some((pattern) => pattern.test(sentence))) ||
      reports(line, errorReports),
  );
}

/** Whether a text begins with the report that the work is done. */
export function saysDone(text: string): boolean {
  const [first = ""] = endsOf(text);
  const [sentence = ""] = splitSentences(first);
  return reports(sentence, completionReports);
}

/** The first line of a text and its last one. */
function endsOf(text: string): readonly string[] {
  const trimmed = text.trim();
  const first = trimmed.slice(0, lineCharacters).split("\n", 1)[0] ?? "";
  const last = trimmed.slice(-lineCharacters).split("\n").at(-1) ?? "";
  return [first, last];
}

function reports(line: string, patterns: readonly RegExp[]): boolean {
  return splitSentences(line).some((sentence) =>
    patterns.some((pattern) => {
      const found = pattern.exec(sentence);
      if (!found || denied.test(sentence.slice(found.index + found[0].length))) return false;
      return !denied.test(sentence) && !notReported.test(sentence.slice(0, found.index + found[0].length));
    }),
  );
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
