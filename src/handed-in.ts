/** Functions that a host hands in: an answer of another shape is replaced, and the first one is a warning of the process. */
import { warnOnce } from "./warn.ts";

/** The question to a host's function, and the answers that fit. */
export interface Handed<Answer> {
  /** The function's name in the warning: `The counter "mine"`. */
  readonly name: string;
  /** The code of the warning. */
  readonly code: string;
  /** The answer that fits, in words. */
  readonly wanted: string;
  /** A sentence that names the replacement. */
  readonly otherwise: string;
  /** The answer as it is used; undefined if it does not fit. */
  read(answer: unknown): Answer | undefined;
}

/**
 * The answer of a host's function, which is called at once. One that throws, answers a promise, or answers another shape is
 * reported once, without content, and replaced.
 *
 * @param asked - the function or the object that was handed in; each is reported once
 */
export function answerOf<Answer>(
  asked: object,
  handed: Handed<Answer>,
  call: () => unknown,
  otherwise: () => Answer,
): Answer {
  let fault: string;
  try {
    const answer = call();
    const read = isPromise(answer) ? undefined : handed.read(answer);
    if (read !== undefined) return read;
    // A promise that nobody awaits must not end the process.
    if (isPromise(answer)) answer.then(undefined, () => undefined);
    fault = `answered ${shapeOf(answer)}; it should answer ${handed.wanted}`;
  } catch (error) {
    fault = `threw ${nameOf(error)}; it should answer ${handed.wanted}`;
  }
  warnOnce(asked, handed.code, `${handed.name} ${fault}. ${handed.otherwise}`);
  return otherwise();
}

/** As {@link answerOf}, for a function that may answer later. */
export async function laterAnswerOf<Answer>(
  asked: object,
  handed: Handed<Answer>,
  call: () => unknown,
  otherwise: () => Answer,
): Promise<Answer> {
  const [outcome] = await Promise.allSettled([(async () => call())()]);
  const settled = (): unknown => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  };
  return answerOf(asked, handed, settled, otherwise);
}

/**
 * Hands something to a host's listener. A listener that throws, at once or later, is reported once and breaks nothing.
 *
 * @param what - the thing that is handed over, in words: `a line of a log`
 * @param key - names the listener for {@link warnOnce}. Default: the listener itself
 */
export function inform<Told>(
  listener: ((told: Told) => unknown) | undefined,
  told: Told,
  what: string,
  key: string | object | undefined = listener,
): void {
  if (!listener || key === undefined) return;
  const failed = (error: unknown): void =>
    warnOnce(key, "listener-failed", `A listener threw ${nameOf(error)} at ${what}. Everything else goes on.`);
  try {
    const answer = listener(told);
    if (isPromise(answer)) answer.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/** A clock that a host hands in: a Date, milliseconds or ISO text are times. Another answer is the system's time. */
export function clockOf(now: () => unknown = () => new Date()): () => Date {
  return () => answerOf(now, time, now, () => new Date());
}

const time: Handed<Date> = {
  name: "The clock `now`",
  code: "clock-failed",
  wanted: "a Date or milliseconds since 1970",
  otherwise: "The system's clock stands in.",
  read: (answer) => {
    const isTime = answer instanceof Date || typeof answer === "number" || typeof answer === "string";
    const date = isTime ? new Date(answer) : undefined;
    return date && Number.isFinite(date.getTime()) ? date : undefined;
  },
};

/** The shape of a value, without its content: `a number`, `a list of a text`, `an object with content, role`. */
export function shapeOf(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value);
  if (isPromise(value)) return "a promise";
  if (Array.isArray(value))
    return value.length === 0 ? "an empty list" : `a list that begins with ${shapeOf(value[0])}`;
  if (typeof value === "string") return value === "" ? "an empty text" : "a text";
  if (typeof value === "number")
    return Number.isFinite(value) ? `a number${value < 0 ? " below 0" : ""}` : String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (ArrayBuffer.isView(value)) return `a ${nameOf(value)}`;
  const names = Object.keys(value).slice(0, 5);
  return names.length > 0 ? `an object with ${names.join(", ")}` : "an object without fields";
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}

/** The name of an error: its message may quote a session. */
function nameOf(value: unknown): string {
  const name: unknown = value instanceof Error ? value.name : (value as object | null | undefined)?.constructor?.name;
  return typeof name === "string" ? name : typeof value;
}
