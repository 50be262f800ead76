/** Models by name, for commands and configuration: `openai:gpt-5-mini`, `ollama:qwen3`, `openai:qwen3@http://…/v1`. */
import { withoutSecrets } from "../address.ts";
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { Model } from "./model.ts";

const providers = ["openai", "anthropic", "gemini", "ollama"] as const;

/**
 * Opens a model by `provider:model`, or by `provider:model@baseUrl` for a server of one's own. Keys come from the
 * environment, as the clients document.
 *
 * @throws WindrowError `bad-option` for a name of another form, an unknown provider, or a key that is missing
 */
export async function openModel(name: string): Promise<Model> {
  const [, provider = "", model = "", baseUrl] = /^([^:]*):(.+?)(?:@(https?:\/\/.+))?$/.exec(name) ?? [];
  const options = { model, ...(baseUrl !== undefined && { baseUrl }) };
  switch (provider) {
    case "openai":
      return (await import("./openai-compatible.ts")).openaiModel(options);
    case "anthropic":
      return (await import("./anthropic.ts")).anthropicModel(options);
    case "gemini":
      return (await import("./gemini.ts")).geminiModel(options);
    case "ollama":
      return (await import("./ollama.ts")).ollamaModel(options);
    default:
      throw new WindrowError(
        "bad-option",
        `A model is named provider:model or provider:model@baseUrl, with a provider of ${providers.join(", ")}; not ` +
          `"${withoutSecrets(name)}".${nearest(provider, providers)}`,
        { name: withoutSecrets(name) },
      );
  }
}
