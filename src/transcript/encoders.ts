/** The list of formats that Windrow writes. To add one, write its encoder beside its decoder and name it here. */
import { claudeCodeEncoder } from "./claude-code/write.ts";
import { codexEncoder } from "./codex/write.ts";
import type { TranscriptEncoder } from "./encoder.ts";
import { geminiCliEncoder } from "./gemini-cli/write.ts";
import { openaiChatEncoder } from "./openai-chat/write.ts";
import { piEncoder } from "./pi/write.ts";

/** The encoders. Windrow's own format has none: `windrow export` writes a session's lines as they are. */
export const encoders: readonly TranscriptEncoder[] = [
  openaiChatEncoder,
  claudeCodeEncoder,
  codexEncoder,
  piEncoder,
  geminiCliEncoder,
];
