/** A host's own messages as a session's windows may show them: masked where its store wants the live window masked. */
import { maskJson, maskRecord } from "../../mask/mask.ts";
import type { JsonValue, Message } from "../../message/message.ts";
import type { SessionSettings } from "../../session/context.ts";

/** What of a session's settings says how its windows are masked. */
export type LiveSettings = Pick<SessionSettings, "liveMask" | "secretRules">;

/** The messages themselves, but without their secrets where the live window shows none. */
export function liveHistory(settings: LiveSettings | undefined, messages: readonly Message[]): readonly Message[] {
  if (settings?.liveMask !== true) return messages;
  const mask = { rules: settings.secretRules.rules, liveMask: true };
  return messages.map((message) => {
    const masked = maskRecord(mask, { kind: "message", message, tokenCount: 0, timestamp: "" });
    return masked.kind === "message" ? masked.message : message;
  });
}

/** Whether a window may show the host's very object for a message. */
export function mayShowOwn({ liveMask, secretRules }: LiveSettings, { parts, extra = {} }: Message): boolean {
  if (!liveMask) return true;
  const said = [parts, extra] as unknown as JsonValue;
  return maskJson(secretRules, said) === said;
}
