/** Every format that Windrow reads. To add one, write its decoder beside these and name it here. */
import { claudeCode } from "./claude-code/read.ts";
import { codex } from "./codex/read.ts";
import { geminiCli } from "./gemini-cli/read.ts";
import { openaiChat } from "./openai-chat/read.ts";
import { pi } from "./pi/read.ts";
import { trajectory } from "./trajectory.ts";
import type { TranscriptDecoder } from "./transcript.ts";
import { windrow } from "./windrow/read.ts";

/** The decoders, asked in this order; of two that are equally sure the first reads. */
export const decoders: readonly TranscriptDecoder[] = [
  windrow,
  claudeCode,
  codex,
  pi,
  geminiCli,
  trajectory,
  openaiChat,
];
