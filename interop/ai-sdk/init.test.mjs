/** `windrow init` in a project with the AI SDK, in each of its majors; and with its providers of models, for major 7. */
import { test } from "node:test";
import { started, testInit } from "../kit/init.mjs";
import { folder, major, version } from "./host.mjs";

const installed = (name) => [name, new URL(`node_modules/${name}`, folder)];
testInit({ host: "ai-sdk", label: "AI SDK", version, packages: Object.fromEntries([installed("ai")]) });

for (const provider of ["anthropic", "openai", "google"]) {
  test(`windrow init for the AI SDK with @ai-sdk/${provider}: types`, { skip: major !== "7" }, () => {
    const project = started(Object.fromEntries([installed("ai"), installed(`@ai-sdk/${provider}`)]));
    project.init();
    project.compile();
    project.remove();
  });
}
