/** The check of an answer: a model is a function of the user, and may answer anything. */
import { WindrowError } from "../errors.ts";
import { shapeOf } from "../handed-in.ts";
import { asArray, asString, fieldsOf } from "../message/json.ts";
import { countsOf } from "../message/parts.ts";
import type { Embeddings, Model, ModelAnswer, ModelFinish, ModelLike } from "./model.ts";

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

/**
 * The vectors of an embedder's answer that nobody checked: a list of them, or an object with one as `vectors`,
 * `embeddings` or `data`; each a list of numbers, a typed array, or an object with one as `embedding` or `values`.
 *
 * @param asked - the number of texts
 * @throws WindrowError `model-failed` if there is not one vector for each text, all of one length
 */
export function checkedVectors(answer: unknown, asked: number, model = ""): Embeddings["vectors"] {
  const { vectors: own, embeddings, data } = fieldsOf(answer);
  const rows = [answer, own, embeddings, data].map(asArray).find((list) => list !== undefined);
  const vectors = rows?.toSorted((left, right) => placeOf(left) - placeOf(right)).map(vectorOf) ?? [];
  const [first] = vectors;
  const isEven = vectors.every((vector) => vector !== undefined && vector.length === first?.length);
  if (isEven && vectors.length === asked) return vectors as Embeddings["vectors"];
  const lengths = [...new Set(vectors.map((vector) => vector?.length ?? 0))].slice(0, 3).join(" and ");
  const got = first ? `${vectors.length} vectors for ${asked} texts, of ${lengths} numbers` : shapeOf(rows ?? answer);
  const wanted = "{ vectors }: a list of finite numbers for each text, all of one length";
  const message = `The embedder answered ${got}; it should answer ${wanted}.`;
  throw new WindrowError("model-failed", message, { model });
}

/** The place that an item names, as those of OpenAI's do; items without one stay in order. */
function placeOf(row: unknown): number {
  const { index } = fieldsOf(row);
  return typeof index === "number" ? index : 0;
}

function vectorOf(row: unknown): readonly number[] | undefined {
  const { embedding, values } = ArrayBuffer.isView(row) ? {} : fieldsOf(row);
  const numbers: unknown = embedding ?? values ?? row;
  const list = ArrayBuffer.isView(numbers) ? Array.from(numbers as Float32Array) : asArray(numbers);
  return list && list.length > 0 && list.every(Number.isFinite) ? (list as readonly number[]) : undefined;
}

/** The reasons of an end, in the words of providers and of the AI SDK. */
const words = {
  "stop": ["stop", "end_turn", "stop_sequence", "STOP"],
  "length": ["length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"],
  "refused": [
    ...["refusal", "content_filter", "content-filter"],
    ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"],
  ],
  "tool-calls": ["tool_use", "tool_calls", "function_call", "tool-calls"],
} as const;

const finishes: ReadonlyMap<unknown, ModelFinish> = new Map(
  Object.entries(words).flatMap(([finish, all]) => all.map((word) => [word, finish as ModelFinish] as const)),
);

/** The reason of an end in Windrow's words. */
export function finishOf(word: unknown): ModelFinish {
  return finishes.get(word) ?? "other";
}
