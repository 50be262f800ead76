/** The keys of a `windrow.config` file as a zod schema. docs/windrow.schema.json is generated from it. */
import { z } from "zod";

/** The newest version of the file format that this code reads. */
export const configVersion = 1;

const name = z.string().min(1);
const tokens = z.int().positive();
const milliseconds = z.number().positive();
const seconds = z.number().min(0);

const model = z
  .strictObject({
    id: name,
    provider: name,
    contextWindow: tokens,
    maxOutput: tokens,
    imageTokens: tokens,
    profile: name,
    prices: z.strictObject({
      input: z.number().min(0),
      output: z.number().min(0),
      cacheRead: z.number().min(0),
      cacheWrite: z.number().min(0),
    }),
  })
  .partial();

/** The entry of one provider in the `llm` section. A host's other keys are ignored. */
const provider = z.looseObject({
  model: name.optional().describe("The model's id."),
  context_length: tokens.optional().describe("The model's capacity in tokens."),
  max_output: tokens.optional().describe("Most tokens of one answer. Default: the known model's, else 4096."),
});

const ageForm = "an age such as 30d or 12h";

const age = z
  .string(ageForm)
  .regex(/^\d+(?:\.\d+)?[mhdw]?$/, ageForm)
  .describe("An age: 30d, 24h, 90m, 2w.");

/** The strategy of an agent's plugin.json. */
const plugin = z.strictObject({
  type: name,
  pluginId: name.optional(),
  config: z.record(z.string(), z.unknown()).optional(),
});

const ratio = z.number().gt(0).max(1);

/** Keys that may differ between users, and so may come from a user's own configuration. */
const perUser = {
  model: z.union([name, model]).describe("A known model's id, or its contextWindow, maxOutput, prices and profile."),
  strategy: z
    .union([name, z.looseObject({ use: name }), z.looseObject({ contextStrategy: plugin })])
    .describe(
      "A strategy, a preset, a module or a plugin.json, by name, as { use, ...options } or { contextStrategy }.",
    ),
  budget: z
    .union([tokens, z.literal("auto")])
    .describe("Tokens a window may use; auto: it sizes itself. Default: from the model."),
  profile: name.describe("What the provider accepts: anthropic, openai-chat, gemini …"),
  counter: name.describe("How tokens are counted: estimate, o200k, cl100k …"),
  ingestCap: tokens.describe("Most tokens of one result when it is first shown."),
  maxSummaryTokens: tokens.describe("Most tokens of a summary, for strategies that do not say it themselves."),
  maxBootstrapTokens: tokens.describe("Most tokens of what a memory tells at the start."),
  compaction: z.enum(["background", "blocking"]).describe("Whether a step waits for the summary that is due after it."),
  calibrate: z.boolean().describe("Whether budgets are in tokens as the provider counts them."),
  llm: z
    .record(z.string(), z.union([provider, z.string()]))
    .describe(
      "A host's config.yaml: a provider's name to its model and context_length; `provider` names the one to use.",
    ),
  llm_provider: name.describe("Which entry of `llm` to use. Default: its first."),
  context_length: tokens.describe("The model's capacity in tokens, over that of `llm`."),
  compression_threshold: ratio.describe("Share of the context length that a window may use."),
};

/** The schema of a user's own configuration. Other keys in it are ignored. */
export const userSettings = z.object(perUser).partial();

/** The schema of a whole configuration file. */
export const settings = z
  .strictObject({
    $schema: z.string().describe("Where an editor finds this schema."),
    version: z.literal(configVersion).describe("The version of this form."),
    store: name.describe("Where sessions are: a folder (from this file) or a URL: file:, sqlite:, ram:."),
    durability: z.enum(["strict", "group"]).describe("What an acknowledged record survives."),
    archive: name.describe("Where finished sessions are archived: a folder (from this file) or s3://bucket/prefix."),
    user: name.describe("On whose behalf: sessions of others do not exist."),
    tenant: name.describe("The tenant on whose behalf."),
    admin: z.boolean().describe("Whether the user sees every user's sessions."),
    access: z
      .strictObject({ admins: z.array(name).describe("Who may be an admin. Default: whoever asks to be.") })
      .partial(),
    audit: z.union([z.boolean(), name]).describe("Write every access into the store's audit, or into this file."),
    mask: z
      .strictObject({
        email: z.boolean().describe("Mask e-mail addresses too. Default: in preset coding-agent only."),
        environment: z.boolean().describe("Mask the values of variables named like secrets (…TOKEN, …PASSWORD, …KEY)."),
        seal: name.describe("The variable of the environment with the key that originals are kept under, encrypted."),
        liveMask: z.boolean().describe("Show the model what is kept, masked."),
      })
      .partial(),
    idleTimeout: milliseconds.describe("Milliseconds after which an untouched session is closed."),
    userConfig: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }).describe("{user} in it becomes the user's name; else ?user= is added."),
        timeout: milliseconds.describe("Milliseconds to wait. Default 2000."),
        cache: z.number().min(0).describe("Milliseconds an answer holds. Default 300000."),
      })
      .partial(),
    cleanup: z
      .strictObject({
        closedAfter: age.describe("Put sessions to rest that are closed, not finished, and of this age. Default 7d."),
        compressAfter: age.describe("Compress finished and retired sessions of this age. Default 7d."),
        olderThan: age.describe("Sessions of this age are due for the trash. Default 30d."),
        trashFor: age.describe("How long they stay in the trash. Default 7d."),
        delete: z.boolean().describe("The policy: what is due goes, without --yes. Default false."),
      })
      .partial(),
    monitor: z
      .strictObject({
        interval: z.number().min(0.01).describe("Seconds between two looks. Default 300."),
        timeout: seconds.describe("Seconds a session may run that sets no task_timeout."),
        stale: seconds.describe("Seconds a dead process must have been silent. Default 60."),
      })
      .partial(),
    ...perUser,
  })
  .partial();

/** The JSON Schema of a file, for editors and other programs. */
export function configSchema(): object {
  const schema = z.toJSONSchema(settings, { target: "draft-2020-12", io: "input" });
  return { title: "windrow.config", ...schema };
}

/** Maps optional keys to absent ones instead of undefined ones. */
type Exact<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Exact<Exclude<T[K], undefined>> }
    : T;

/** The settings of a file, or of all layers together. */
export type Settings = Exact<z.output<typeof settings>>;

/** The settings of a user's own configuration. */
export type UserSettings = Exact<z.output<typeof userSettings>>;
