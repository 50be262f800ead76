/** Random messages as the providers' SDKs type them, with unknown fields at every level. */
import fc from "fast-check";
import type { AnthropicMessage } from "windrow/anthropic";
import type { ChatMessage } from "windrow/chat";

const words = fc.oneof(
  fc.constantFrom("", " ", "Hello", "了解しました。", "😀👩‍👩‍👧", "a\nb\n", '{"path": "x"}', "half \ud83d", "windrow"),
  fc.string({ maxLength: 20 }),
);
const base64 = fc.constantFrom("iVBORw0KGgo=", "QUJD", "JVBERi0=");
const json = fc.jsonValue({ maxDepth: 2 });

/** A record with some of its fields left out, and now and then fields nobody knows. */
function loose<T extends Record<string, fc.Arbitrary<unknown>>>(
  needed: T,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<Record<string, unknown>> {
  const known = [...Object.keys(needed), ...Object.keys(optional)];
  const unknown = fc
    .dictionary(fc.oneof(fc.constantFrom("cache_control", "x", "index", "name_", "extra"), fc.string()), json, {
      maxKeys: 2,
    })
    .map((fields) =>
      Object.fromEntries(Object.entries(fields).filter(([key]) => !known.includes(key) && key !== "id")),
    );
  return fc
    .tuple(
      fc.record(needed),
      fc.record(optional, { requiredKeys: [] }),
      fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unknown }),
    )
    .map(([one, other, rest]) => ({ ...rest, ...other, ...one }));
}

const only = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);

const argumentTexts = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  json.map((value) => JSON.stringify(value, null, 2)),
  json.map((value) => JSON.stringify({ a: value }).slice(0, -2)),
  words,
);
/** Ids that every provider takes: others are spelled anew. */
const callIds = fc.oneof(
  fc.nat({ max: 8 }).map((n) => `call_${n}`),
  words.map((text) => text.replaceAll(/[^\w-]/g, "").slice(0, 40)),
);
const names = fc.constantFrom("read", "edit", "mcp.server:tool");

const chatText = loose({ type: only("text"), text: words });
const chatBlock = fc.oneof(
  chatText,
  loose({ type: only("refusal"), refusal: words }),
  loose({
    type: only("image_url"),
    image_url: loose(
      {
        url: fc.oneof(
          words,
          base64.map((data) => `data:image/png;base64,${data}`),
        ),
      },
      { detail: only("low") },
    ),
  }),
  loose({ type: only("input_audio"), input_audio: loose({ data: base64, format: fc.constantFrom("wav", "mp3") }) }),
  loose({
    type: only("file"),
    file: loose(
      {},
      {
        file_id: words,
        filename: words,
        file_data: fc.oneof(
          words,
          base64.map((data) => `data:application/pdf;base64,${data}`),
        ),
      },
    ),
  }),
  json,
);
const chatCall = fc.oneof(
  {
    weight: 6,
    arbitrary: loose({
      id: callIds,
      type: only("function"),
      function: loose({ name: names, arguments: argumentTexts }),
    }),
  },
  {
    weight: 2,
    arbitrary: loose({ id: callIds, type: only("custom"), custom: loose({ name: names, input: argumentTexts }) }),
  },
  { weight: 2, arbitrary: loose({ function: loose({ name: names }, { arguments: json }) }, { id: json, type: words }) },
  { weight: 1, arbitrary: json },
);
const chatContent = fc.oneof(words, fc.array(chatBlock, { maxLength: 3 }));
const orNull = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: some }, { weight: 1, arbitrary: only(null) });

/** Messages of the chat-completions API, in any order: lossless even where no provider would take them. */
export const chatMessages = fc.array(
  fc.oneof(
    loose({ role: fc.constantFrom("system", "developer", "user"), content: chatContent }, { name: words, id: words }),
    loose(
      { role: only("assistant") },
      {
        content: orNull(chatContent),
        refusal: orNull(words),
        audio: orNull(loose({ id: words })),
        name: words,
        tool_calls: orNull(fc.array(chatCall, { maxLength: 3 })),
        function_call: orNull(loose({ name: names, arguments: argumentTexts })),
        reasoning_content: orNull(words),
        reasoning: orNull(words),
        thinking: orNull(words),
        model: words,
        usage: json,
      },
    ),
    loose(
      { role: only("tool") },
      { content: orNull(chatContent), tool_call_id: callIds, name: words, is_error: fc.boolean() },
    ),
    loose({ role: only("function"), name: names }, { content: orNull(words), tool_call_id: callIds }),
  ),
  { maxLength: 8 },
) as unknown as fc.Arbitrary<readonly ChatMessage[]>;

const cache = { cache_control: orNull(loose({ type: only("ephemeral") }, { ttl: only("1h") })) };
const anthropicText = loose(
  { type: only("text"), text: words },
  { ...cache, citations: orNull(fc.array(json, { maxLength: 2 })) },
);
const source = fc.oneof(
  loose({ type: only("base64"), media_type: fc.constantFrom("image/png", "application/pdf"), data: base64 }),
  loose({ type: only("url"), url: words }),
  loose({ type: only("file"), file_id: words }),
  loose({ type: only("text"), media_type: only("text/plain"), data: words }),
  json,
);
const media = fc.oneof(
  loose({ type: only("image"), source }, cache),
  loose({ type: only("document"), source }, { ...cache, title: orNull(words), context: orNull(words) }),
);
const anthropicBlock = fc.oneof(
  anthropicText,
  loose({ type: only("thinking"), thinking: words }, { signature: words }),
  loose({ type: only("redacted_thinking"), data: words }),
  media,
  loose({ type: only("tool_use"), id: callIds, name: names }, { ...cache, input: json }),
  loose(
    { type: only("tool_result"), tool_use_id: callIds },
    {
      ...cache,
      is_error: orNull(fc.boolean()),
      content: orNull(fc.oneof(words, fc.array(fc.oneof(anthropicText, media, json), { maxLength: 3 }))),
    },
  ),
  loose({ type: only("server_tool_use"), id: words, name: only("web_search"), input: json }),
  json,
);

/** Messages of the Anthropic Messages API, in any order. */
export const anthropicMessages = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: loose(
        {
          role: fc.constantFrom("user", "assistant", "system"),
          content: fc.oneof(words, fc.array(anthropicBlock, { maxLength: 4 })),
        },
        { id: words, model: words, usage: json },
      ),
    },
    { weight: 1, arbitrary: loose({ role: only("system") }, { output_config: json, clear_at: words }) },
  ),
  { maxLength: 8 },
) as unknown as fc.Arbitrary<readonly AnthropicMessage[]>;
