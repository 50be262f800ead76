/** `windrow init` in a project with ADK, and in one with Google's Gen AI SDK alone. */
import { testInit } from "../kit/init.mjs";

const genai = new URL("node_modules/@google/genai", import.meta.url);
const adk = new URL("node_modules/@google/adk", import.meta.url);
testInit({ host: "adk", label: "ADK", version: "2.0.0", packages: { "@google/adk": adk, "@google/genai": genai } });
testInit({
  host: "gemini",
  label: "@google/genai",
  version: "2.32.0",
  packages: { "@google/genai": genai },
  realModel: (url) => ({ GEMINI_API_KEY: "any", GOOGLE_GEMINI_BASE_URL: url }),
});
