/** Ollama's own API: its OpenAI-compatible one takes no `num_ctx` and cuts a long prompt without a word. */
import { fieldsOf } from "../message/json.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { baseOf, postJson, reported, sumOf, textOf, vectorsOf } from "./http.ts";
import type { HttpOptions } from "./http.ts";
import type { Embedder, Model, ModelRequest } from "./model.ts";
import { modelFailed } from "./retry.ts";

/** Options of {@link ollamaModel}. */
export interface OllamaModelOptions extends Omit<HttpOptions, "apiKey"> {
  /** `num_ctx`, in tokens: what the server makes room for. Sent with every request. Default 8,192. */
  readonly contextWindow?: number;
}

const local = "http://127.0.0.1:11434";

/**
 * A model that Ollama runs. The server is that of `OLLAMA_HOST`, else this machine's. Every request carries `num_ctx`
 * and `truncate: false`; servers that cut the prompt all the same are found out by what they say they read.
 *
 * @throws WindrowError its calls throw `aborted`, and `model-failed`, also where the prompt was cut: `data.evaluated`
 */
export function ollamaModel(options: OllamaModelOptions): Model {
  const { model, headers, contextWindow = 8_192 } = options;
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
    const rows = Array.isArray(answer["embeddings"]) ? (answer["embeddings"] as readonly unknown[]) : [];
    const usage = reported({ input: sumOf(answer["prompt_eval_count"]) });
    return { vectors: vectorsOf(model, rows, texts.length), usage };
  };
  return Object.assign(embed, { id: model });
}

function serverOf(baseUrl: string | undefined): string {
  const host = baseUrl ?? process.env["OLLAMA_HOST"] ?? local;
  return baseOf(host.includes("://") ? host : `http://${host}`, local);
}

/**
 * Vocabularies differ by less than half on one text, and by less still where the prompt is larger than what the server
 * makes room for: a server that read less has dropped the front.
 */
function checkWhole(model: string, { system = "", prompt }: ModelRequest, evaluated = 0, contextWindow: number): void {
  const expected = countMessage(estimate, { parts: [{ type: "text", text: system + prompt }] });
  const least = expected * (expected > contextWindow ? 0.9 : 0.5);
  if (evaluated === 0 || evaluated >= least) return;
  const message = `it read ${evaluated} of about ${expected} tokens; give a contextWindow above ${contextWindow}`;
  throw modelFailed(model, { message, mayPass: false, evaluated });
}
