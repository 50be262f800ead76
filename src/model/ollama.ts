/**
 * A client for Ollama's own API, because its OpenAI-compatible one takes no `num_ctx` and silently cuts a long prompt.
 */
import { fieldsOf } from "../message/json.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { checkedVectors } from "./answer.ts";
import { baseOf, postJson, reported, sumOf, textOf, withModel } from "./http.ts";
import type { HttpOptions } from "./http.ts";
import type { Embedder, Model, ModelRequest } from "./model.ts";
import { modelFailed } from "./retry.ts";

/** Options of {@link ollamaModel}. */
export interface OllamaModelOptions extends Omit<HttpOptions, "apiKey"> {
  /** `num_ctx` in tokens: the context that the server allocates. Every request sends it. Default 8,192. */
  readonly contextWindow?: number;
}

const local = "http://127.0.0.1:11434";

/**
 * A model that Ollama runs, on the server of `OLLAMA_HOST` or on this machine. Every request carries `num_ctx` and
 * `truncate: false`. A server that cuts the prompt anyway is detected by the tokens it reports.
 *
 * @throws WindrowError its calls throw `aborted`, and `model-failed`, also where the prompt was cut: `data.evaluated`
 */
export function ollamaModel(options: OllamaModelOptions): Model {
  const { model, headers, contextWindow = 8_192 } = withModel("ollamaModel", options);
  const url = `${serverOf(options.baseUrl)}/api/chat`;
  const ask: Model = async (request, signal) => {
    const { system, prompt, maxOutput } = request;
    const body = {
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: "system", content: system }]),
        { role: "user", content: prompt },
      ],
      stream: false,
      truncate: false,
      options: { num_ctx: contextWindow, ...(maxOutput !== undefined && { num_predict: maxOutput }) },
    };
    const answer = await postJson(model, { url, body, ...(headers && { headers }) }, options, signal);
    const input = sumOf(answer["prompt_eval_count"]);
    checkWhole(model, request, input, contextWindow);
    const reason = answer["done_reason"];
    return {
      text: textOf(fieldsOf(answer["message"])["content"]),
      usage: reported({ input, output: sumOf(answer["eval_count"]) }),
      finish: reason === "stop" || reason === "length" ? reason : "other",
    };
  };
  return Object.assign(ask, { id: model, contextWindow });
}

/**
 * An embedder that Ollama runs; the server as for {@link ollamaModel}.
 *
 * @throws WindrowError its calls throw `aborted` and `model-failed`, also for a text longer than the model takes
 */
export function ollamaEmbedder(options: Omit<HttpOptions, "apiKey">): Embedder {
  const { model, headers } = options;
  const url = `${serverOf(options.baseUrl)}/api/embed`;
  const embed: Embedder = async (texts, signal) => {
    const body = { model, input: texts, truncate: false };
    const answer = await postJson(model, { url, body, ...(headers && { headers }) }, options, signal);
    const usage = reported({ input: sumOf(answer["prompt_eval_count"]) });
    return { vectors: checkedVectors(answer, texts.length, model), usage };
  };
  return Object.assign(embed, { id: model });
}

function serverOf(baseUrl: string | undefined): string {
  const host = baseUrl ?? process.env["OLLAMA_HOST"] ?? local;
  return baseOf(host.includes("://") ? host : `http://${host}`, local);
}

/**
 * Detects a cut prompt. Vocabularies differ by less than half on one text, and by less still on a prompt that exceeds
 * the context, so a server that reports less has dropped the front.
 */
function checkWhole(model: string, { system = "", prompt }: ModelRequest, evaluated = 0, contextWindow: number): void {
  const expected = countMessage(estimate, { parts: [{ type: "text", text: system + prompt }] });
  const least = expected * (expected > contextWindow ? 0.9 : 0.5);
  if (evaluated === 0 || evaluated >= least) return;
  const message = `it read ${evaluated} of about ${expected} tokens; give a contextWindow above ${contextWindow}`;
  throw modelFailed(model, { message, mayPass: false, evaluated });
}
