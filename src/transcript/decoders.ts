/** The list of formats that Windrow reads. To add one, write its decoder in a folder beside these and name it here. */
import { anthropicMessages } from "./anthropic.ts";
import { claudeCode } from "./claude-code/read.ts";
import { codex } from "./codex/read.ts";
import { copilotCli } from "./copilot-cli.ts";
import { geminiCli } from "./gemini-cli/read.ts";
import { openaiChat } from "./openai-chat/read.ts";
import { openCode } from "./opencode/read.ts";
import { pi } from "./pi/read.ts";
import { qwenCode } from "./qwen-code.ts";
import { trajectory } from "./trajectory.ts";
import type { TranscriptDecoder } from "./transcript.ts";
import { windrow } from "./windrow/read.ts";

/** The decoders in order of preference: the first of two equally sure ones reads. */
export const decoders: readonly TranscriptDecoder[] = [
  windrow,
  claudeCode,
  codex,
  pi,
  geminiCli,
  qwenCode,
  copilotCli,
  openCode,
  trajectory,
  anthropicMessages,
  openaiChat,
];
