/** `windrow init` in projects with the SDKs of OpenAI and Anthropic, and in one without any. */
import { readFileSync } from "node:fs";
import { testInit } from "../kit/init.mjs";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const suite = (host, label, name, realModel) => {
  const packages = name === undefined ? {} : { [name]: new URL(`node_modules/${name}`, import.meta.url) };
  testInit({ host, label, version: dependencies[name] ?? "", packages, realModel });
};
const openai = (url) => ({ OPENAI_API_KEY: "any", OPENAI_BASE_URL: `${url}/v1` });
suite("openai", "openai", "openai", openai);
suite("anthropic", "@anthropic-ai/sdk", "@anthropic-ai/sdk", (url) => ({
  ANTHROPIC_API_KEY: "any",
  ANTHROPIC_BASE_URL: url,
}));
suite("plain", "no SDK", undefined, openai);
