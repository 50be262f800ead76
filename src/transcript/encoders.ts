/** Every format of another program that Windrow writes. To add one, write its encoder beside its decoder and name it here. */
import { claudeCodeEncoder } from "./claude-code-encoder.ts";
import { codexEncoder } from "./codex-encoder.ts";
import type { TranscriptEncoder } from "./encoder.ts";
import { geminiCliEncoder } from "./gemini-cli-encoder.ts";
import { openaiChatEncoder } from "./openai-chat-encoder.ts";
import { piEncoder } from "./pi-encoder.ts";

/** The encoders. Windrow's own format is a session's own lines, and has none. */
export const encoders: readonly TranscriptEncoder[] = [
  openaiChatEncoder,
  claudeCodeEncoder,
  codexEncoder,
  piEncoder,
  geminiCliEncoder,
];
