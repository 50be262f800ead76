/** `windrow init` in a project with Mastra. */
import { testInit } from "../kit/init.mjs";

const packages = Object.fromEntries(
  ["@mastra/core", "zod"].map((name) => [name, new URL(`node_modules/${name}`, import.meta.url)]),
);
testInit({ host: "mastra", label: "Mastra", version: "1.71.0", packages });
