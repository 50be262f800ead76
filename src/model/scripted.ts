/** A model for tests. It answers from a script, and fails on every call that the script does not expect. */
import { AssertionError } from "node:assert";
import type { Model, ModelAnswer, ModelRequest } from "./model.ts";
import { aborted } from "./retry.ts";

/** One expected call: the answer, an error to fail with, or a function of the request. */
export type ScriptStep =
  | string
  | Error
  | Partial<ModelAnswer>
  | ((
      request: ModelRequest,
      signal?: AbortSignal,
    ) => Partial<ModelAnswer> | string | Promise<Partial<ModelAnswer> | string>);

/** A model that follows a script. */
export interface ScriptedModel extends Model {
  /** The requests so far, oldest first. */
  readonly requests: readonly ModelRequest[];
  /**
   * Call it at the end of a test.
   *
   * @throws AssertionError where a step was not used, or a call came that the script did not expect: also when whoever
   * made that call swallowed its error
   */
  done(): void;
}

/**
 * Makes a model that answers one step per call. A string is a whole answer; missing fields of an answer are `""`, no
 * usage and `stop`.
 *
 * @example
 * const model = scripted(["A summary.", new Error("overloaded"), { text: "half", finish: "length" }]);
 * // … the test …
 * model.done();
 */
export function scripted(steps: readonly ScriptStep[], facts: Pick<Model, "id" | "contextWindow"> = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const ask: Model = async (request, signal) => {
    const step = steps[requests.push(request) - 1];
    if (signal?.aborted) throw aborted(facts.id ?? "the scripted model");
    if (step === undefined) throw new AssertionError({ message: unexpected(request) });
    if (step instanceof Error) throw step;
    const given = typeof step === "function" ? await step(request, signal) : step;
    return { text: "", usage: {}, finish: "stop", ...(typeof given === "string" ? { text: given } : given) };
  };
  const unexpected = (request: ModelRequest | undefined): string =>
    `call ${steps.length + 1} of ${steps.length} scripted: ${JSON.stringify(request?.prompt.slice(0, 200))}`;
  const done = (): void => {
    if (requests.length > steps.length) throw new AssertionError({ message: unexpected(requests[steps.length]) });
    if (requests.length < steps.length) {
      throw new AssertionError({ message: `${steps.length - requests.length} of ${steps.length} steps were not used` });
    }
  };
  return Object.assign(ask, { requests, done, ...facts });
}
