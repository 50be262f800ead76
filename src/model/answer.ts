/** The check of an answer: a model is a function of the user, and may answer anything. */
import { shown } from "../shown.ts";
import { asString, fieldsOf } from "../message/json.ts";
import { countsOf } from "../message/parts.ts";
import type { Model, ModelAnswer, ModelFinish, ModelLike } from "./model.ts";

/**
 * The answer of a model that nobody checked: a text, or an object with one. Counts that are none are left out.
 *
 * @throws Error where it has no text
 */
export function checkedAnswer(answer: unknown): ModelAnswer {
  if (typeof answer === "string") return { text: answer, finish: "stop", usage: {} };
  const fields = fieldsOf(answer);
  const text = asString(fields["text"]);
  if (text === undefined)
    throw new Error(`The model answered ${shapeOf(answer)}; it should answer a text or { text }.`);
  const finish = (asString(fields["finish"]) ?? "stop") as ModelFinish;
  return { text, finish, usage: countsOf(fields["usage"]) };
}

/** A user's function as a model, whose answers are checked. */
export function checkedModel(model: ModelLike): Model {
  const { id, contextWindow } = model;
  const checked: Model = async (request, signal) => checkedAnswer(await model(request, signal));
  return Object.assign(checked, {
    ...(id !== undefined && { id }),
    ...(contextWindow !== undefined && { contextWindow }),
  });
}

/** The shape of an answer, without its content: `a number`, `an object with content, role`. */
function shapeOf(answer: unknown): string {
  const names = Object.keys(fieldsOf(answer)).slice(0, 5);
  if (names.length > 0) return `an object with ${names.join(", ")}`;
  return typeof answer === "number" || typeof answer === "boolean" ? `a ${typeof answer}` : shown(answer);
}
