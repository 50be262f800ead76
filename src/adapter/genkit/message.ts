/** The messages of Genkit in and out: what has no place in a message is kept beside it. */
import { parseJson, sameJson, without, asArray, asName, asObject, asString, defined } from "../../message/json.ts";
import { CallPairing, dataOfUrl } from "../../message/parts.ts";
import type { JsonObject, JsonValue, Message, Part, ResultContent, Role } from "../../message/message.ts";
import type { ToolResultPart } from "../../message/message.ts";
import { absent, badMessage, hostMessage, hostMessages, keep, keptOf, Originals } from "../../shape/host-fields.ts";
import { ownMessages, present } from "../../shape/host-fields.ts";
import type { Adapter } from "../adapter.ts";

/** A message of Genkit: its `MessageData`. */
export interface GenkitMessage {
  readonly role: "system" | "user" | "model" | "tool";
  readonly content: readonly object[];
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The name under which Genkit's own fields are kept. */
const genkit = "genkit";

const roles: Readonly<Record<string, Role>> = { system: "system", user: "user", model: "assistant", tool: "tool" };

type KnownPart = Exclude<Part, { readonly type: "opaque" }>;

const originals = new Originals();

/**
 * Messages of Genkit as Windrow's, one for each. Text, reasoning, media, tool requests and tool responses become parts,
 * other parts opaque ones. Metadata stays as it is.
 *
 * @throws WindrowError `bad-message`, with the `index` of a value that is no message of Genkit
 */
export function fromGenkit(messages: readonly GenkitMessage[]): readonly Message[] {
  const calls = new CallPairing();
  return hostMessages(messages, "fromGenkit").map((host, index) => {
    const { role, content, ...rest } = hostMessage(host, index, "a message of Genkit");
    const own = typeof role === "string" && Object.hasOwn(roles, role) ? roles[role] : undefined;
    if (!own) throw badMessage(index, `its role is none of ${Object.keys(roles).join(", ")}`);
    if (!Array.isArray(content)) throw badMessage(index, "its content is no array of parts");
    // Genkit writes the responses right after the answer that asks for them.
    if (role === "model") calls.forget();
    const parts = (content as readonly JsonValue[]).map((block) => partOf(block, calls));
    return originals.note({ id: `m${index + 1}`, role: own, parts, extra: { [genkit]: rest } }, host);
  });
}

/** Windrow's messages as Genkit's. One that `fromGenkit` gave and nothing changed comes back as the very object. */
export function toGenkit(messages: readonly Message[]): GenkitMessage[] {
  return ownMessages(messages, "toGenkit").flatMap((message): readonly unknown[] => {
    const original = originals.of(message);
    return original === undefined ? written(message) : [original];
  }) as GenkitMessage[];
}

/** {@link fromGenkit} and {@link toGenkit} as an Adapter. */
export const genkitAdapter: Adapter<GenkitMessage> = { name: genkit, decode: fromGenkit, encode: toGenkit };

/** A message in Genkit's shape. Results stand in messages of their own, unless Genkit itself put other parts beside them. */
function written({ role, parts, extra }: Message): readonly JsonObject[] {
  const own = keptOf(genkit, extra);
  const made = (as: Role, some: readonly Part[]): JsonObject => ({
    role: as === "assistant" ? "model" : as,
    content: some.map(blockOf).filter((block) => block !== undefined),
    ...own,
  });
  const results = parts.filter((part) => part.type === "tool-result");
  const others = parts.filter((part) => part.type !== "tool-result");
  if (own || (results.length === 0 && role !== "tool")) return [made(role, parts)];
  const beside = others.length > 0 ? [made(role === "tool" ? "user" : role, others)] : [];
  return results.length > 0 ? [made("tool", results), ...beside] : beside;
}

/** A part of Genkit's as one of Windrow's; one that could not be rebuilt exactly is carried whole. */
function partOf(block: JsonValue, calls: CallPairing): Part {
  const object = asObject(block) ?? {};
  const part = knownPart(object, calls);
  if (part && sameJson(blockOf(part), block)) return part;
  return { type: "opaque", kind: `${genkit}/${Object.keys(object)[0] ?? "part"}`, data: block };
}

function knownPart(block: JsonObject, calls: CallPairing): KnownPart | undefined {
  const text = asString(block["text"]);
  const rest = without(block, "text", "reasoning", "media", "toolRequest", "toolResponse");
  // An empty text may carry a signature, and empty texts are tidied away.
  if (text !== undefined) return text === "" ? undefined : { type: "text", text, ...keep(genkit, rest) };
  const reasoning = asString(block["reasoning"]);
  if (reasoning !== undefined) return reasoningPart(reasoning, rest);
  const media = asObject(block["media"]);
  if (media) return mediaPart(media, rest);
  const request = asObject(block["toolRequest"]);
  if (request) return callPart(request, rest, calls);
  const response = asObject(block["toolResponse"]);
  return response && resultPart(response, rest, calls);
}

function reasoningPart(text: string, rest: JsonObject): KnownPart {
  const metadata = asObject(rest["metadata"]) ?? {};
  const signature = asName(metadata["thoughtSignature"]);
  const unsigned = signature === undefined ? rest : { ...rest, metadata: without(metadata, "thoughtSignature") };
  return { type: "reasoning", text, ...defined({ signature }), ...keep(genkit, unsigned, true) };
}

function mediaPart(media: JsonObject, rest: JsonObject): KnownPart | undefined {
  const url = asName(media["url"]);
  if (url === undefined) return undefined;
  const inline = dataOfUrl(url);
  const mediaType = inline?.mediaType ?? asName(media["contentType"]) ?? "application/octet-stream";
  const type = mediaType.startsWith("image/") ? "image" : "file";
  return { type, mediaType, ...(inline ?? { url }), ...keep(genkit, { ...rest, media: without(media, "url") }, true) };
}

function callPart(request: JsonObject, rest: JsonObject, calls: CallPairing): KnownPart | undefined {
  const { ref: id, name, input } = request;
  if (typeof name !== "string") return undefined;
  const ref = asName(id);
  const fields = { ...without(request, "ref", "name", "input"), ...missing({ ref, input }) };
  const args = input ?? {};
  const kept = keep(genkit, { ...rest, toolRequest: fields }, true);
  return { type: "tool-call", callId: calls.call(ref, name), name, args, ...kept };
}

/** An output that is no text stands as its JSON, and `output` says so. */
function resultPart(response: JsonObject, rest: JsonObject, calls: CallPairing): KnownPart {
  const { output } = response;
  const [ref, name] = [asName(response["ref"]), asName(response["name"])];
  const media = asArray(response["content"]);
  const text = typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
  const fields = {
    ...without(response, "ref", "name", "output", "content"),
    ...missing({ ref, name, output }),
    ...(output !== undefined && typeof output !== "string" && { output: "json" }),
  };
  return {
    type: "tool-result",
    ...calls.result(ref, name),
    content: media ? [{ type: "text", text }, ...media.map((item) => resultItem(item, calls))] : text,
    ...keep(genkit, { ...rest, toolResponse: fields }, true),
  };
}

function resultItem(block: JsonValue, calls: CallPairing): ResultContent {
  const part = partOf(block, calls);
  const fits = part.type === "text" || part.type === "image" || part.type === "file" || part.type === "opaque";
  return fits ? part : { type: "opaque", kind: `${genkit}/part`, data: block };
}

/** The marks of fields that Genkit's object does not have. */
function missing(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const names = Object.keys(fields).filter((name) => fields[name] === undefined);
  return Object.fromEntries(names.map((name) => [name, absent]));
}

/** A part of any origin as one of Genkit's; undefined for another host's reasoning. */
function blockOf(part: Part): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${genkit}/`) ? part.data : { text: `[${part.kind}]` };
  const { media, toolRequest, toolResponse, ...rest } = keptOf(genkit, part.opaque) ?? {};
  switch (part.type) {
    case "text":
      return { text: part.text, ...rest };
    case "reasoning": {
      if (keptOf(genkit, part.opaque) === undefined) return undefined;
      const signed = part.signature !== undefined && {
        metadata: { ...asObject(rest["metadata"]), thoughtSignature: part.signature },
      };
      return { reasoning: part.text, ...rest, ...signed };
    }
    case "image":
    case "file": {
      const url = part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}`;
      return { media: { url, ...(asObject(media) ?? { contentType: part.mediaType }) }, ...rest };
    }
    case "tool-call": {
      const { callId: ref, name, args: input } = part;
      return { toolRequest: present({ ref, name, input, ...asObject(toolRequest) }), ...rest };
    }
    case "tool-result":
      return { toolResponse: responseOf(part, asObject(toolResponse) ?? {}), ...rest };
  }
}

function responseOf({ callId: ref, name = "", content }: ToolResultPart, own: JsonObject): JsonObject {
  const [first, ...others] = typeof content === "string" ? [] : content;
  const text = typeof content === "string" ? content : first?.type === "text" ? first.text : "";
  const beside = first === undefined || first.type === "text" ? others : [first, ...others];
  const json = own["output"] === "json" ? parseJson(text) : undefined;
  const output = own["output"] === absent && text === "" ? absent : json === undefined ? text : json;
  return present({
    ref,
    name,
    ...(typeof content !== "string" && { content: beside.map((item) => blockOf(item) ?? null) }),
    ...own,
    output,
  });
}
