/** Models by name, for commands and configuration: `openai:gpt-5-mini`, `ollama:qwen3`, `openai:qwen3@http://…/v1`. */
import { withoutSecrets } from "../address.ts";
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { anthropicModel, geminiModel, ollamaModel, openaiModel } from "./clients.ts";
import type { Model } from "./model.ts";

const providers = new Map(
  Object.entries({ openai: openaiModel, anthropic: anthropicModel, gemini: geminiModel, ollama: ollamaModel }),
);

/**
 * Opens a model by `provider:model`, or by `provider:model@baseUrl` for a server of one's own. Keys come from the
 * environment, as the clients document.
 *
 * @throws WindrowError `bad-option` for a name of another form, an unknown provider, or a key that is missing
 */
export async function openModel(name: string): Promise<Model> {
  const [, provider = "", model = "", baseUrl] = /^([^:]*):(.+?)(?:@(https?:\/\/.+))?$/.exec(name) ?? [];
  const open = providers.get(provider);
  if (open) return open({ model, ...(baseUrl !== undefined && { baseUrl }) });
  const names = [...providers.keys()];
  throw new WindrowError(
    "bad-option",
    `A model is named provider:model or provider:model@baseUrl, with a provider of ${names.join(", ")}; not ` +
      `"${withoutSecrets(name)}".${nearest(provider, names)}`,
    { name: withoutSecrets(name) },
  );
}
