/** `windrow init` in a project with LangChain. */
import { testInit } from "../kit/init.mjs";

const packages = Object.fromEntries(
  ["langchain", "@langchain/core"].map((name) => [name, new URL(`node_modules/${name}`, import.meta.url)]),
);
testInit({ host: "langchain", label: "LangChain", version: "1.5.14", packages });
