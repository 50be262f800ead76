/**
 * Requests that Gemini's generateContent refuses. Pages: ai.google.dev/api/caching#Content and #Part ("reference"),
 * ai.google.dev/gemini-api/docs/function-calling, …/thought-signatures, …/image-understanding, …/document-processing.
 * Error texts are those that the API answered, by the issues that are named.
 */
import { extraFields, faultsOf, isBase64, isObject, itemsOf, objectOf, textOf } from "./request.ts";
import type { Json, Note } from "./request.ts";

export function faults(request: unknown): string[] {
  return faultsOf(request, check);
}

const data = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

type Turn = readonly [Json, string];

function check(request: Json, note: Note): void {
  const turns = itemsOf(request["contents"], "contents");
  // "GenerateContentRequest.contents: contents is not specified" (vercel/ai/issues/3775).
  if (turns.length === 0) note("no-contents", "contents", "contents is not specified");
  for (const [part, path] of itemsOf(objectOf(request["systemInstruction"])["parts"], "systemInstruction.parts")) {
    if (typeof part["text"] !== "string" || part["text"] === "") note("empty-text", path, "no text");
  }
  for (const [at, turn] of turns.entries()) {
    const [content, path] = turn;
    const { role } = content;
    extraFields(content, ["role", "parts"], path, note);
    // "Please use a valid role: user, model."
    if (role !== "user" && role !== "model") note("role", path, role ?? "no role");
    // "contents[1].parts: contents.parts must not be empty." (egoist/chatwise-releases/issues/250).
    if (partsOf(turn).length === 0) note("empty-parts", path, "contents.parts must not be empty");
    for (const [part, place] of partsOf(turn)) partOf(part, role, place, note);
    pairs(turn, turns[at - 1], turns[at + 1], note);
  }
  // "Please ensure that multiturn requests end with a user role": crewAIInc/crewAI/pull/6973.
  if (turns.at(-1)?.[0]["role"] === "model") note("last-is-user", "contents", "ends on a model turn");
  if (turns[0]?.[0]["role"] === "model") note("first-is-user", "contents", "begins with a model turn");
  signatures(turns, note);
}

function partsOf([content, path]: Turn): readonly (readonly [Json, string])[] {
  return itemsOf(content["parts"], `${path}.parts`);
}

function partOf(part: Json, role: unknown, path: string, note: Note): void {
  // "Invalid JSON payload received. Unknown name \"x\" at 'contents[0].parts[0]': Cannot find field."
  extraFields(
    part,
    [...data, "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"],
    path,
    note,
  );
  const kinds = data.filter((field) => part[field] !== undefined);
  // "parts[0].data: required oneof field 'data' must have one initialized field" (router-for-me/CLIProxyAPI/1292).
  if (kinds.length !== 1) note("one-kind", path, kinds);
  const { text, thoughtSignature: signature } = part;
  // "Unable to submit request because it has an empty text parameter." A part without text may hold a signature alone.
  if (text === "" && signature === undefined) note("empty-text", path, "an empty text parameter");
  // A signature is bytes: "Base64 decoding failed"; another provider's is "Corrupted thought signature". Those of this
  // folder's histories begin with C; thought-signatures (FAQ) names two that skip the check.
  const isOwn =
    typeof signature === "string" &&
    /^(C[A-Za-z0-9+/]+=*|skip_thought_signature_validator|context_engineering_is_the_way_to_go)$/.test(signature);
  if (signature !== undefined && !isOwn) note("foreign-signature", path, signature);
  if (part["functionCall"] !== undefined) call(objectOf(part["functionCall"]), role, path, note);
  if (part["functionResponse"] !== undefined) response(objectOf(part["functionResponse"]), role, path, note);
  if (part["inlineData"] !== undefined) inline(objectOf(part["inlineData"]), path, note);
  const { fileData } = part;
  // "Invalid or unsupported file uri": a file of the Files API, gs://, or an http address.
  if (fileData !== undefined && !/^(https?|gs):\/\/[^/]/.test(textOf(objectOf(fileData)["fileUri"]))) {
    note("media-url", path, objectOf(fileData)["fileUri"] ?? "no fileUri");
  }
  if (fileData !== undefined) mediaType(objectOf(fileData)["mimeType"], path, note);
}

function nameOf(name: unknown, path: string, note: Note): void {
  // Reference, FunctionDeclaration: "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain
  // underscores, dots, colons and dashes, with a maximum length of 64." "Invalid function name. Must start with a
  // letter or an underscore." An empty one: "function_response.name: Name cannot be empty."
  if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(textOf(name))) note("name-pattern", path, name ?? "no name");
}

function call(given: Json, role: unknown, path: string, note: Note): void {
  extraFields(given, ["id", "name", "args"], path, note);
  nameOf(given["name"], path, note);
  // Reference: `args` is a Struct, an object.
  if (given["args"] !== undefined && !isObject(given["args"])) note("args-object", path, given["args"]);
  // "Please ensure that function call turn comes immediately after a user turn": only a model calls.
  if (role !== "model") note("part-role", path, `functionCall of ${textOf(role)}`);
}

function response(given: Json, role: unknown, path: string, note: Note): void {
  extraFields(given, ["id", "name", "response", "parts", "willContinue", "scheduling"], path, note);
  nameOf(given["name"], path, note);
  // Reference: `response` is required, a Struct.
  if (!isObject(given["response"])) note("response-object", path, given["response"] ?? "no response");
  if (role === "model") note("part-role", path, "functionResponse of model");
  for (const [part, place] of itemsOf(given["parts"], `${path}.parts`)) {
    // Reference, FunctionResponsePart: inlineData alone (function calling, multimodal function responses).
    if (isObject(part["inlineData"])) inline(part["inlineData"], place, note);
    else note("response-part", place, Object.keys(part));
  }
}

function inline(given: Json, path: string, note: Note): void {
  mediaType(given["mimeType"], path, note);
  if (!isBase64(given["data"])) note("media-data", path, "no base64");
}

function mediaType(type: unknown, path: string, note: Note): void {
  // "Unsupported MIME type: image/gif": image understanding has PNG, JPEG, WEBP, HEIC, HEIF (microsoft/vscode/286628).
  if (!/^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|(text|audio|video)\/[\w.+-]+)$/.test(textOf(type))) {
    note("media-type", path, type ?? "no mimeType");
  }
}

function kindsOf(turn: Turn | undefined, field: string): readonly Json[] {
  return turn ? partsOf(turn).flatMap(([part]) => (isObject(part[field]) ? [part[field]] : [])) : [];
}

/** Calls and responses stand in turns behind each other, as many of the one as of the other. */
function pairs(turn: Turn, before: Turn | undefined, next: Turn | undefined, note: Note): void {
  const [, path] = turn;
  const calls = kindsOf(turn, "functionCall");
  const results = kindsOf(turn, "functionResponse");
  if (calls.length > 0) {
    // "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
    if (before?.[0]["role"] !== "user") note("call-order", path, "a call behind no user turn");
    const answers = kindsOf(next, "functionResponse");
    // "Please ensure that the number of function response parts is equal to the number of function call parts of the
    // function call turn." (google-gemini/gemini-cli/issues/16543).
    if (answers.length !== calls.length)
      note("response-count", path, `${calls.length} calls, ${answers.length} responses`);
    else match(calls, answers, path, note);
  }
  // "Please ensure that function response turn comes immediately after a function call turn."
  if (results.length > 0 && kindsOf(before, "functionCall").length === 0)
    note("response-order", path, "no call before");
}

/** Function calling: the response has the call's id, where it has one, and its name. */
function match(calls: readonly Json[], answers: readonly Json[], path: string, note: Note): void {
  const key = ({ id, name }: Json): string => JSON.stringify([id ?? null, name ?? null]);
  const wanted = calls.map(key).sort();
  const given = answers.map(key).sort();
  if (wanted.some((one, at) => one !== given[at])) note("response-match", path, `${wanted.join()} / ${given.join()}`);
  const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
  if (new Set(ids).size !== ids.length) note("unique-ids", path, ids);
}

/**
 * Thought signatures: in the current turn, which begins with the newest user content that is no function response, the
 * first call of each step has one. "Function call is missing a thought_signature in functionCall parts."
 */
function signatures(turns: readonly Turn[], note: Note): void {
  const begins = turns.findLastIndex(
    (turn) => turn[0]["role"] !== "model" && kindsOf(turn, "functionResponse").length < partsOf(turn).length,
  );
  for (const turn of turns.slice(begins + 1)) {
    const first = partsOf(turn).find(([part]) => part["functionCall"] !== undefined);
    if (first && first[0]["thoughtSignature"] === undefined)
      note("call-signature", first[1], "missing a thought_signature");
  }
}
