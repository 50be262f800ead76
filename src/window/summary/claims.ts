/** Claims about the user: a summary may say that the user asked for something only where the user did. */
import { splitLines } from "../../message/quote.ts";
import { termsOf } from "../recall/terms.ts";
import { splitSentences } from "../../message/sentences.ts";

/** Sentences that put words into the user's mouth, in English, Japanese and Chinese. */
const claims: readonly RegExp[] = [
  /\buser (?:has |had |also |then |later |\w+ly ){0,3}(?:asks?|asked|requests?|requested|wants?|wanted|instruct(?:s|ed)|tells?|told|says?|said|approve[sd]|confirm(?:s|ed)|agree[sd]|insist(?:s|ed)|demand(?:s|ed)|allow(?:s|ed)|permit(?:s|ted)|authori[sz]e[sd]|prefers?|preferred|decide[sd]|order(?:s|ed)|consent(?:s|ed)|accept(?:s|ed))\b/i,
  /\b(?:asked|requested|instructed|told|approved|confirmed|authori[sz]ed|permitted|ordered) by (?:the )?user\b|\buser'?s (?:request|approval|permission|consent|confirmation|instruction|wish)/i,
  /(?:ユーザー?|利用者)(?:は|が|から|より|の).{0,60}?(?:(?:依頼|要求|要望|指示|希望|承認|承諾|許可|同意)(?:[しすさ済をがによ]|。|$)|求め|頼[みん]|望ん|と述べ|と言)/u,
  /(?:用户|使用者|用戶).{0,12}?(?:要求|请求|請求|希望|同意|批准|指示|允许|允許|授权|授權|说|說|想要|表示)/u,
];
const quotation = /"([^"\n]{2,200})"|“([^”\n]{2,200})”|「([^」\n]{2,200})」|『([^』\n]{2,200})』/gu;

/** A line that pretends to be a message of the user's or of the system. */
const forged = /^\s*\[?(?:USER|SYSTEM|HUMAN|ユーザー|用户)\]?\s*[:：]\s*(.*)$/i;

/** Words that a claim is made with; they are no part of what is claimed. */
const frame = new Set(
  termsOf(
    "user users asked ask asks requested request wanted want wants instructed instruct told tell said say says approved " +
      "approve approval confirmed confirm agreed agree insisted insist allowed allow permission authorised authorized " +
      "preferred prefer decided decide ordered wish consent accepted assistant agent also then finally later explicitly " +
      "ユーザーはユーザーがユーザーからユーザーより依頼した依頼しました要求した要求しました指示した指示しました希望した希望しました承認しました確認しました" +
      "用户要求用户请求用户希望用户同意用户批准用户确认用户指示",
  ),
);

/** Share of a claim's words that the user's messages must hold. */
const neededShare = 0.5;

/**
 * Takes out of a summary what it makes the user say: a sentence with such a claim stays only where the user's own messages
 * hold its quotations word for word and at least half of its words.
 *
 * @param said - the texts the claims may rest on: what the user wrote, and a previous summary that was checked itself
 */
export function strikeClaims(
  summary: string,
  said: readonly string[],
): { readonly text: string; readonly struck: readonly string[] } {
  const whole = said.map(plain).join("\n");
  const words = new Set(said.flatMap(termsOf));
  const struck: string[] = [];
  const lines = splitLines(summary).flatMap((line) => {
    const pretended = forged.exec(line)?.[1];
    if (pretended !== undefined && !whole.includes(plain(pretended))) {
      struck.push(line.trim());
      return [];
    }
    let left = line;
    for (const sentence of splitSentences(line)) {
      if (pretended !== undefined || !claims.some((claim) => claim.test(sentence))) continue;
      if (isSaid(sentence, whole, words)) continue;
      struck.push(sentence);
      left = left.replace(sentence, "");
    }
    return left === line ? [line] : /[\p{L}\p{N}]/u.test(left) ? [left.replaceAll(/ {2,}/g, " ").trimEnd()] : [];
  });
  return { text: lines.join("\n").trim(), struck };
}

function isSaid(sentence: string, whole: string, words: ReadonlySet<string>): boolean {
  const quotes = [...sentence.matchAll(quotation)].map((match) => match.slice(1).find((text) => text !== undefined));
  if (quotes.some((quote) => !whole.includes(plain(quote ?? "")))) return false;
  const claimed = [...new Set(termsOf(sentence))].filter((term) => !frame.has(term));
  const found = claimed.filter((term) => words.has(term)).length;
  return found >= claimed.length * neededShare;
}

/** A text as it is compared: spaces, case and width do not matter. */
function plain(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replace(/[.。]\s*$/, "")
    .trim();
}
