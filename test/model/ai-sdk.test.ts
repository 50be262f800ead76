/** Models of the AI SDK: by their shapes always, and by the real packages of three majors where npm can fetch them. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { aiSdkEmbedder, aiSdkModel } from "windrow/model";
import type { AiSdkEmbeddingModel, AiSdkLanguageModel } from "../kit/inside/model.ts";
import { fastClock, serve, silence } from "./server.ts";

const request = { system: "Be brief.", prompt: "Sum up: 😀", maxOutput: 500 };

type Asked = Parameters<AiSdkLanguageModel["doGenerate"]>[0];

function languageModel(version: string, answer: object | Error, asked: Asked[] = []): AiSdkLanguageModel {
  const doGenerate: AiSdkLanguageModel["doGenerate"] = async (options) => {
    asked.push(options);
    if (answer instanceof Error) throw answer;
    return answer as Awaited<ReturnType<AiSdkLanguageModel["doGenerate"]>>;
  };
  return { specificationVersion: version, modelId: "test-model", doGenerate };
}

const content = [
  { type: "reasoning", text: "hm" },
  { type: "text", text: "A " },
  { type: "text", text: "summary." },
];
const older = { inputTokens: 120, outputTokens: 30, totalTokens: 150, cachedInputTokens: 100, reasoningTokens: 20 };
const newer = {
  inputTokens: { total: 120, noCache: 20, cacheRead: 100, cacheWrite: undefined },
  outputTokens: { total: 30, text: 10, reasoning: 20 },
};
const anthropics = {
  ...newer,
  inputTokens: { total: 120, noCache: 10, cacheRead: 100, cacheWrite: 10 },
  raw: { cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 7 } },
};

describe("a language model's shape", () => {
  it.each([
    ["v2", { content, finishReason: "stop", usage: older }],
    ["v3", { content, finishReason: { unified: "stop", raw: "end_turn" }, usage: newer }],
    ["v4", { content, finishReason: { unified: "stop", raw: undefined }, usage: newer }],
  ])("of %s is asked and read", async (version, answer) => {
    const asked: Asked[] = [];
    const model = aiSdkModel(languageModel(version, answer, asked), { contextWindow: 64_000 });
    expect(await model(request)).toEqual({
      text: "A summary.",
      usage: { input: 120, output: 30, cacheRead: 100, reasoning: 20 },
      finish: "stop",
    });
    expect(asked[0]).toMatchObject({
      prompt: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Sum up: 😀" }] },
      ],
      maxOutputTokens: 500,
    });
    expect({ ...model }).toEqual({ id: "test-model", contextWindow: 64_000 });
  });

  it.each([
    ["length", "length"],
    ["content-filter", "refused"],
    ["tool-calls", "tool-calls"],
    ["unknown", "other"],
    [{ unified: "interrupted", raw: "x" }, "other"],
  ])("ends by %j as %s, with no usage where none is reported", async (finishReason, finish) => {
    const answer = { content, finishReason, usage: { inputTokens: undefined, outputTokens: { total: undefined } } };
    expect(await aiSdkModel(languageModel("v4", answer))(request)).toMatchObject({ finish, usage: {} });
  });

  it("tells which writes Anthropic's cache keeps for an hour", async () => {
    const answer = { content, finishReason: { unified: "stop", raw: "end_turn" }, usage: anthropics };
    const { usage } = await aiSdkModel(languageModel("v3", answer))(request);
    expect(usage).toMatchObject({ input: 120, cacheWrite: 10, cacheWriteHour: 7 });
  });

  it.each([["openai/gpt-5"], [languageModel("v1", {})], [{}], [undefined]])("refuses %j", (model) => {
    expect(() => aiSdkModel(model as unknown as AiSdkLanguageModel)).toThrowError(
      /model object of the AI SDK 5, 6 or 7/,
    );
  });

  it("stops where the model does not listen to its signal", async () => {
    const deaf = { ...languageModel("v3", {}), doGenerate: () => new Promise<never>(() => undefined) };
    const controller = new AbortController();
    const call = aiSdkModel(deaf)(request, controller.signal);
    controller.abort();
    await expect(call).rejects.toHaveProperty("code", "aborted");
    await expect(aiSdkModel(deaf, { timeoutMs: 30 })(request)).rejects.toThrow(/no answer within 30 ms/);
  });

  it("does not try again what the SDK says will not pass", async () => {
    const clock = fastClock();
    const refused = Object.assign(new Error("bad request"), { isRetryable: false, statusCode: 400 });
    await expect(aiSdkModel(languageModel("v3", refused), { clock })(request)).rejects.toThrow(/bad request/);
    expect(clock.waits).toEqual([]);
  });

  it("embeds as many values a call as the model takes", async () => {
    const sizes: number[] = [];
    const embedder = aiSdkEmbedder({
      specificationVersion: "v3",
      modelId: "e",
      maxEmbeddingsPerCall: 2,
      async doEmbed({ values }) {
        sizes.push(values.length);
        return { embeddings: values.map((value) => [value.length]), usage: { tokens: values.length } };
      },
    });
    const texts = ["a", "bb", "ccc", "dddd", "eeeee"];
    expect(await embedder(texts)).toEqual({ vectors: [[1], [2], [3], [4], [5]], usage: { input: 5 } });
    expect(sizes).toEqual([2, 2, 1]);
  });
});

/** The provider package of each major, by the name it is installed under. */
const majors = { five: "1.0.61", six: "2.0.87", seven: "3.0.92" };
const folder = join(tmpdir(), `windrow-ai-sdk-${Object.values(majors).join("-")}`);

function install(): string | undefined {
  if (existsSync(join(folder, "installed"))) return undefined;
  const packages = Object.entries(majors).map(([name, version]) => `${name}@npm:@ai-sdk/openai-compatible@${version}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0"];
  try {
    execFileSync("npm", ["install", ...flags, ...packages], { cwd: folder, timeout: 90_000, stdio: "pipe" });
  } catch (error) {
    return String(error).split("\n", 1)[0];
  }
  writeFileSync(join(folder, "installed"), "");
  return undefined;
}

interface Provider {
  (model: string): AiSdkLanguageModel;
  textEmbeddingModel(model: string): AiSdkEmbeddingModel;
}

async function provider(major: string, baseURL: string): Promise<Provider> {
  const file = createRequire(join(folder, "package.json")).resolve(major);
  const { createOpenAICompatible } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    readonly createOpenAICompatible: (options: object) => Provider;
  };
  return createOpenAICompatible({ name: "test", baseURL, apiKey: "sk-test-4f9b21c07d" });
}

const missing = install();
if (missing !== undefined) console.log(`skipped: the AI SDK's packages cannot be installed (${missing})`);

describe.skipIf(missing !== undefined)("the AI SDK's own package", () => {
  it.each(Object.entries(majors))("of major %s (%s) works against a server", async (major) => {
    const server = await serve([
      { status: 429, headers: { "retry-after": "3" }, body: { error: { message: "slow down" } } },
      {
        body: {
          id: "1",
          created: 1,
          model: "m",
          choices: [{ index: 0, message: { role: "assistant", content: "A sum" }, finish_reason: "length" }],
          usage: { prompt_tokens: 120, completion_tokens: 30, prompt_tokens_details: { cached_tokens: 100 } },
        },
      },
      { body: { data: [{ index: 0, embedding: [0.5, 1] }], usage: { prompt_tokens: 4 } } },
      { status: 400, body: { error: { message: "too long" } } },
      silence,
    ]);
    const sdk = await provider(major, server.url);
    const clock = fastClock();
    const language = sdk("m");
    console.log(`${major}: specification ${language.specificationVersion}`);
    const model = aiSdkModel(language, { clock });
    const answer = await model(request);
    expect(answer).toMatchObject({
      text: "A sum",
      finish: "length",
      usage: { input: 120, output: 30, cacheRead: 100 },
    });
    expect(clock.waits).toEqual([3_000]);
    expect(server.asked[1]?.body).toMatchObject({ max_tokens: 500, messages: [{ role: "system" }, { role: "user" }] });
    const embedded = await aiSdkEmbedder(sdk.textEmbeddingModel("e"))(["one"]);
    expect(embedded).toEqual({ vectors: [[0.5, 1]], usage: { input: 4 } });
    await expect(model(request)).rejects.toThrow(/HTTP 400|too long/);
    const controller = new AbortController();
    const call = model(request, controller.signal);
    while (server.asked.length < 5) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await expect(call).rejects.toHaveProperty("code", "aborted");
    await server.close();
  });
});
