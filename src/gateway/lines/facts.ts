/** The facts of a line, as its session's `taskKey` keeps them. */
import { asName, asObject } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import type { WireRequest } from "../gateway.ts";

/** The facts by which a line is found again, and those for people. */
export interface LineFacts {
  readonly api: string;
  readonly client: string;
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  /** The client's name of the session or agent that started this one. */
  readonly startedBy?: string | undefined;
  /** `main`, `agent`, `side`, or `line-2` and so on for further ones of a session. */
  readonly name: string;
  /** The print of the first message; empty for a line of side requests. */
  readonly first: string;
  readonly tenant: string;
  /** Whether the gateway adds its tool of recall to every request. Default false. */
  readonly hasTool?: boolean | undefined;
  /** The line that this one goes on from. */
  readonly parent?: { readonly uuid: string; readonly reason: string } | undefined;
}

/** The facts as a session keeps them. */
export function taskKeyOf(facts: LineFacts): JsonObject {
  const { api, client, session, agent, startedBy, name, first, tenant, hasTool, parent } = facts;
  return {
    gateway: 1,
    api,
    client,
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(startedBy !== undefined && { started_by: startedBy }),
    line: name,
    first,
    tenant,
    ...(hasTool === true && { recall: "tool" }),
    ...(parent && { parent: { ...parent } }),
  };
}

/** The facts of a session; undefined for one that is no line of a gateway. */
export function factsOf(taskKey: JsonObject): LineFacts | undefined {
  const { gateway, api, client, line, tenant, first } = taskKey;
  const texts = [api, client, line, tenant, first].map((value) => (typeof value === "string" ? value : undefined));
  if (gateway !== 1 || texts.includes(undefined)) return undefined;
  const parent = asObject(taskKey["parent"]);
  const [uuid, reason] = [asName(parent?.["uuid"]), asName(parent?.["reason"])];
  return {
    api: texts[0] ?? "",
    client: texts[1] ?? "",
    session: asName(taskKey["session"]),
    agent: asName(taskKey["agent"]),
    startedBy: asName(taskKey["started_by"]),
    name: texts[2] ?? "",
    tenant: texts[3] ?? "",
    first: texts[4] ?? "",
    ...(taskKey["recall"] === "tool" && { hasTool: true }),
    ...(uuid !== undefined && reason !== undefined && { parent: { uuid, reason } }),
  };
}

/** The group that a line belongs to: only lines of one group are compared with a request. */
export function groupOf(
  facts: Pick<LineFacts, "api" | "client" | "session" | "agent" | "tenant" | "first" | "name">,
): string {
  const { api, client, session, agent, tenant, first, name } = facts;
  if (name === "side") return JSON.stringify([tenant, api, client, session ?? null, null, "side"]);
  if (session === undefined) return JSON.stringify([tenant, api, first]);
  return JSON.stringify([tenant, api, client, session, agent ?? null]);
}

/** The facts of a request's line, but for its name and its parent. */
export function claimed(
  { api, claims }: WireRequest,
  tenant: string,
  first: string,
): Omit<LineFacts, "name" | "parent"> {
  const { client, session, agent, parent: startedBy } = claims;
  return { api: api.name, client, session, agent, startedBy, first, tenant };
}
