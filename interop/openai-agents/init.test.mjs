/** `windrow init` in a project with the OpenAI Agents SDK. */
import { testInit } from "../kit/init.mjs";

const packages = { "@openai/agents": new URL("node_modules/@openai/agents", import.meta.url) };
testInit({ host: "openai-agents", label: "OpenAI Agents", version: "0.20.0", packages });
