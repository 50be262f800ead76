/** The check of an answer: a model is a function of the user, and may answer anything. */
import { asString, fieldsOf } from "../message/json.ts";
import { countsOf } from "../message/parts.ts";
import type { ModelAnswer, ModelFinish } from "./model.ts";

/**
 * The answer of a model that nobody checked; counts that are none are left out.
 *
 * @throws Error where it has no text, or does not say how it ended
 */
export function checkedAnswer(answer: unknown): ModelAnswer {
  const fields = fieldsOf(answer);
  const [text, finish] = [asString(fields["text"]), asString(fields["finish"])];
  if (text === undefined) throw new Error("The model's answer is no object with a `text`.");
  if (finish === undefined) throw new Error('The model\'s answer has no `finish`, such as "stop".');
  return { text, finish: finish as ModelFinish, usage: countsOf(fields["usage"]) };
}
