/** Every format that Windrow reads. To add one, write its decoder beside these and name it here. */
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { geminiCli } from "./gemini-cli.ts";
import { openaiChat } from "./openai-chat.ts";
import { pi } from "./pi.ts";
import { trajectory } from "./trajectory.ts";
import type { TranscriptDecoder } from "./transcript.ts";
import { windrow } from "./windrow.ts";

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
