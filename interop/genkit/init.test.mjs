/** `windrow init` in a project with Genkit. */
import { testInit } from "../kit/init.mjs";

const packages = Object.fromEntries(
  ["genkit", "@genkit-ai/google-genai"].map((name) => [name, new URL(`node_modules/${name}`, import.meta.url)]),
);
testInit({ host: "genkit", label: "Genkit", version: "1.42.0", packages });
