/** Names that a request gives of its client, session and agent, by the headers and fields in which clients put them. */
import type { IncomingHttpHeaders } from "node:http";
import { asName, asObject, defined, fieldsOf, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Claims } from "../gateway.ts";

/** Longest name that is taken from a request, in characters. */
const longest = 200;

/** Headers with the client's id of its session, by how sure they are. */
const sessionHeaders = [
  "x-windrow-session",
  "x-claude-code-session-id",
  "thread-id",
  "session-id",
  "x-session-affinity",
  "x-opencode-session",
  "x-session-id",
  "session_id",
];

const agentHeaders = ["x-windrow-agent", "x-claude-code-agent-id"];

/** Claude Code's agents have one session: there the agent that started another is named. */
const parentHeaders = ["x-parent-session-id", "x-claude-code-parent-agent-id"];

/** Programs by the beginning of their user agent, in small letters. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/^claude-(cli|code)\b/, "claude-code"],
  [/^codex/, "codex"],
  [/^opencode\b/, "opencode"],
  [/^gemini-?cli/, "gemini-cli"],
  [/^pi[ /(]/, "pi"],
];

/**
 * The names that a request gives.
 *
 * @param fields - the body's members
 */
export function claimsOf(headers: IncomingHttpHeaders, fields: JsonObject): Claims {
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => nameOf(headers[name])).find((value) => value !== undefined);
  return defined({
    client: clientOf(headers),
    session: first(sessionHeaders) ?? sessionInBody(fields),
    agent: first(agentHeaders),
    parent: first(parentHeaders),
  });
}

function clientOf(headers: IncomingHttpHeaders): string {
  const agent = (headers["user-agent"] ?? "").trim().toLowerCase();
  const known = programs.find(([pattern]) => pattern.test(agent));
  if (known) return known[1];
  if (headers["x-claude-code-session-id"] !== undefined) return "claude-code";
  return /^[a-z0-9._-]{1,60}/.exec(agent)?.[0] ?? "unknown";
}

function sessionInBody(fields: JsonObject): string | undefined {
  const metadata = fieldsOf(fields["metadata"]);
  return sessionOfUser(metadata["user_id"]) ?? nameOf(fields["prompt_cache_key"]) ?? nameOf(metadata["session_id"]);
}

/** Claude Code writes JSON into the user's id, and wrote `user_…_account_…_session_…` before. Others write a name. */
function sessionOfUser(user: JsonValue | undefined): string | undefined {
  const text = asName(user);
  if (text === undefined || text.length > 4_096) return undefined;
  if (text.startsWith("{")) return nameOf(asObject(parseJson(text))?.["session_id"]);
  return nameOf(/^user_.*_session_([\w-]+)$/.exec(text)?.[1]);
}

/** A name of a sensible length that can be written anywhere: it has no control characters and no halves of characters. */
function nameOf(value: unknown): string | undefined {
  const name = asName(Array.isArray(value) ? value[0] : value)?.trim();
  if (name === undefined || name === "" || name.length > longest) return undefined;
  return /[\p{Cc}\p{Cs}]/u.test(name) ? undefined : name;
}
