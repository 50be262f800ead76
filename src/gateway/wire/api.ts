/** An API on the wire: a shape, the requests that carry it, and the facts that stand in their bodies. */
import { asArray, defined } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import { isOverflow } from "../../shape/faults.ts";
import type { Shape } from "../../shape/shape.ts";
import { inPlace } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Claims, WireApi, WireCall, WireRequest } from "../gateway.ts";
import { readAnswer } from "./answer.ts";
import { readBody, writeBody } from "./body.ts";
import type { ReadBody } from "./body.ts";
import { claimsOf } from "./claims.ts";
import { fixedBy, kindOf, lastTextOf } from "./kind.ts";

/** What a request of one API says. */
export type WireFacts = Pick<WireRequest, "tools"> & {
  readonly [Name in "model" | "maxOutput" | "system" | "keepsReasoning" | "fixed" | "kind" | "claims"]?:
    | WireRequest[Name]
    | undefined;
} & {
  /** Default: whether its `tools` have any. */
  readonly hasTools?: boolean;
  /** Whether the answer is asked for in a shape of JSON. */
  readonly hasSchema: boolean;
  /** Default: that of a message with `content`. */
  readonly lastUserText?: string | undefined;
};

/** The parts of an API that are its own. */
export interface WireParts<Host extends object>
  extends Pick<WireApi, "name">, Partial<Pick<WireApi, "write" | "reader" | "edits" | "opened">> {
  readonly shape: Shape<Host>;
  readonly profile: Profile;
  /** Fits the paths of requests that carry a conversation. */
  readonly route: RegExp;
  readonly facts: (body: ReadBody, call: WireCall, claims: Claims) => WireFacts;
  /** Reads a body without a list of messages. */
  readonly readOther?: (call: WireCall) => ReadBody | undefined;
}

/** Makes an API of its parts. Its system messages stay in their places. */
export function wireApi<Host extends object>(parts: WireParts<Host>): WireApi {
  const { shape: own, profile, route, facts, readOther, ...members } = parts;
  const shape = own as unknown as Shape<JsonObject>;
  const api: WireApi = {
    profile: inPlace(profile),
    adapter: shape,
    matches: (method, path) => method === "POST" && route.test(path),
    read(call) {
      const body = readBody(call, shape) ?? readOther?.(call);
      if (!body) return undefined;
      const { fields, messages } = body;
      const named = claimsOf(call.headers, fields);
      const { hasTools, hasSchema, lastUserText, ...said } = facts(body, call, named);
      const kind = kindOf({
        client: named.client,
        hasTools: hasTools ?? (asArray(fields["tools"])?.length ?? 0) > 0,
        hasSchema,
        messageCount: messages.length,
        lastUserText: lastUserText ?? lastTextOf(messages.at(-1)?.value),
      });
      const fixed = fixedBy(call.headers, fields) ?? said.fixed;
      return defined({ api, call, kind, claims: named, messages, ...defined(said), fixed }) satisfies WireRequest;
    },
    write: (request, messages) => writeBody(request, shape.list, messages),
    reader: () => readAnswer(shape.answer()),
    isEcho: shape.isEcho,
    withoutReasoning: shape.withoutReasoning,
    isPrefixFault: shape.isPrefixFault,
    ...(shape.isUnopened && { isUnopened: shape.isUnopened }),
    isOverflow,
    fault: (status, message) => ({
      contentType: "application/json",
      body: JSON.stringify(shape.fault(status, message)),
    }),
    ...members,
  };
  return api;
}
