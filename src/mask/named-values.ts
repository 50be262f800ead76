/** Decides whether a value under a telling name is a secret. */
import { entropy, isFiller } from "./rules.ts";
import { classesOf, isMade, isStandIn, isWordy, signsOf } from "./stand-ins.ts";
import type { NameKind } from "./names.ts";

/** Most characters of a named value. Amazon's session tokens have about a thousand. */
export const longestValue = 4_096;

/**
 * The position of a value: alone on the line of a setting, in quotes, as one setting of several, or bare among words.
 */
export type Standing = "line" | "quoted" | "setting" | "bare";

/** Whether a value is a secret under a name of this kind. */
export function isSecret(kind: NameKind, value: string, standing: Standing): boolean {
  if (value.length > longestValue || /\s/.test(value) || isStandIn(value)) return false;
  if (/[!?)\]:,;>]$/.test(value) && isStandIn(value.replace(/[!?)\]:,;>]+$/, ""))) return false;
  // `==` compares a name and sets no value.
  if (value.startsWith("=") && !isMade(value)) return false;
  if (isPlace(value) && !(isMade(value) && signsOf(value) >= 3)) return false;
  return kind === "password" ? isPassword(value, standing) : isKey(value, standing);
}

/** Whether a value is a path, an address, a cloud resource, a version or a date. */
function isPlace(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]{1,12}:\/\/|^(?:arn|urn|projects?|secrets?|refs|keyvault|ssm|vault|secretsmanager|op)[:/]/i.test(
      value,
    ) ||
    (/^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[\\/]|^[\w-]+\/[\w./-]*\.\w{1,5}$/.test(value) &&
      (isWordy(value) || !/\d/.test(value))) ||
    /^v?\d+\.\d+(?:\.\d+)?(?:[-+.][\w.]+)?$|^\d{4}-\d\d-\d\d/.test(value) ||
    /^[\w.+-]+@[\w-]+(?:\.[a-z]{2,12})+$/i.test(value) ||
    /^[\w-]*\.(?:txt|json|ya?ml|pem|key|env|ts|js|py|go|rb|java|md|html?|php|sh|conf|cfg|ini|xml|log|crt|tsx|jsx)$/i.test(
      value,
    )
  );
}

/** Names of methods and of fields that have digits in them. */
const method =
  /^(?:sha|md5|argon|pbkdf|scrypt|bcrypt|aes|rsa|hmac|ed25519|x509|utf|base(?:16|32|58|64)|oauth|http|v\d|s3|k8s|i18n|win32)[\w-]*$/i;
const field =
  /^(?:\w*(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|field|input|param|arg|user|item))[_-]?\d{0,2}$/i;

function isPassword(value: string, standing: Standing): boolean {
  const least = standing === "quoted" || standing === "line" ? 4 : 6;
  if (value.length < least || !/[\x21-\x7E]/.test(value)) return false;
  if (/[^\x21-\x7E]/.test(value) && !/\d/.test(value)) return false;
  if (/^[\d.,]+$/.test(value)) return standing !== "bare" && /^\d{6,}$/.test(value);
  if (!/[A-Za-z0-9]/.test(value)) return false;
  if (standing !== "bare" && isMade(value)) return true;
  const wordy = isWordy(value);
  if (wordy && (method.test(value) || field.test(value))) return false;
  if (standing === "bare") return !wordy && isMixed(value);
  if (/\d/.test(value)) {
    if (standing === "setting") return !wordy || (/[^\w.-]/.test(value) && !/[()[\]]/.test(value));
    return !(wordy && /^[a-z]+(?:[._-][a-z]+)+\d?$/.test(value));
  }
  if (!wordy) return value.length >= 6 && (classesOf(value) >= 2 || standing === "line" || standing === "quoted");
  // A single word is a password only in a place that holds nothing else.
  return (
    (standing === "line" || standing === "quoted") && /^[a-z]{5,}$/.test(value) && !/pass|secret|token/.test(value)
  );
}

/** Whether letters mix with digits or signs as in no word. */
function isMixed(value: string): boolean {
  const kinds = classesOf(value);
  if (/^[\w.-]+\(.*\)?$/.test(value)) return isMade(value) && signsOf(value) >= 2;
  return value.length >= 8
    ? kinds >= 3 || (kinds === 2 && /\d/.test(value) && !/^[a-z]+\d+$/i.test(value))
    : kinds >= 3;
}

function isKey(value: string, standing: Standing): boolean {
  // Amazon's secret keys are 40 characters of base64, with hardly a digit at times.
  if (standing !== "bare" && /^[A-Za-z0-9/+]{40}$/.test(value) && entropy(value) >= 4) return true;
  if (value.length < 8 || /[^\x21-\x7E]/.test(value) || isWordy(value)) return false;
  if (/^[\d.,:_-]+$/.test(value)) return false;
  if (isFiller(value) || /123456789|(.)\1{7}|^abc\w*123$/i.test(value)) return false;
  if (standing !== "bare" && isMade(value)) return true;
  if (/^[|?]|^\w{2,10}=/.test(value)) return false;
  if (/^0x[0-9a-f]{1,16}$/i.test(value) || method.test(value)) return false;
  if (/^[\w.-]+\([^()]*\)$/.test(value)) return false;
  if (new Set(value).size < Math.min(6, value.length * 0.6)) return false;
  const kinds = classesOf(value);
  if (/\d/.test(value)) return kinds >= 2 && (standing !== "bare" || value.length >= 12 || kinds >= 3);
  // Without a digit, only capitals among small letters mark it as random: `kQzRtbAx`, not `readToken`.
  const turns = value.match(/[a-z][A-Z]|[A-Z]{2}[a-z]/g)?.length ?? 0;
  return standing !== "bare" && (turns >= value.length / 6 || (kinds >= 3 && /[^\w.:-]/.test(value)));
}
