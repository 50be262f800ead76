/** Requests of real clients. */
import { describe, expect, it } from "vitest";
import { hashJson } from "../../kit/inside/gateway.ts";
import { recordings as files, requestsIn as requestsOf } from "../recorded.ts";

/** The member of a body that holds its messages, where that is another one than `messages`. */
const lists: Readonly<Record<string, string>> = { "openai-responses": "input", "gemini": "contents" };

describe.skipIf(files.length === 0)("recorded requests", () => {
  it.each(files)("are written again byte for byte: %s", (file) => {
    for (const request of requestsOf(file)) {
      const { api, call, messages } = request;
      expect(api.write(request, messages)).toBe(call.body);
      const made = messages.map(({ value }, index) =>
        index === 0 ? { made: value } : (messages[index] ?? { made: value }),
      );
      const written = JSON.parse(api.write(request, made).toString()) as object;
      const list = lists[api.name] ?? "messages";
      const body = JSON.parse(call.body.toString()) as { readonly [list: string]: unknown };
      const given = body[list];
      const rest = Array.isArray(given) ? given.slice(1) : [];
      expect(written).toEqual({ ...body, [list]: [messages[0]?.value, ...rest] });
    }
  });

  // A client that takes thinking out changes its own messages.
  it.each(files.filter((file) => !/binding/.test(file)))("have one hash for a message that comes again: %s", (file) => {
    const lines = new Map<string, readonly string[]>();
    const changed: number[] = [];
    for (const [number, { messages, claims, kind }] of requestsOf(file).entries()) {
      // Behind a client's own compaction its history is another.
      if (kind === "compaction") lines.clear();
      if (kind !== "turn") continue;
      const hashes = messages.map(({ hash }) => hash);
      const first = messages.findIndex(({ value }) => value["role"] === "user");
      const key = `${claims.session} ${claims.agent} ${hashes[first]}`;
      const before = lines.get(key) ?? [];
      const shared = Math.min(before.length, hashes.length);
      if (hashes.slice(0, shared).join() !== before.slice(0, shared).join()) changed.push(number);
      lines.set(key, hashes);
    }
    expect(changed).toEqual([]);
  });

  it.each(files)("come back from their adapter: %s", (file) => {
    for (const { api, messages } of requestsOf(file)) {
      const values = messages.map(({ value }) => value);
      const decoded = api.adapter.decode(values);
      expect(decoded).toHaveLength(values.length);
      expect(api.adapter.encode(JSON.parse(JSON.stringify(decoded)) as typeof decoded)).toEqual(values);
      for (const { value, hash } of messages) expect(hashJson(value)).toBe(hash);
    }
  });

  it("are told by their clients", () => {
    const told = new Map<string, Set<string>>();
    for (const file of files) {
      const key = file.slice(0, 2);
      const names = told.get(key) ?? new Set<string>();
      for (const { claims } of requestsOf(file)) names.add(`${claims.client} ${claims.session !== undefined}`);
      told.set(key, names);
    }
    expect([...(told.get("cc") ?? [])].filter((name) => name.startsWith("claude-code"))).toEqual(["claude-code true"]);
    expect([...(told.get("oc") ?? [])]).toEqual(["opencode true"]);
    // It names its session to the Responses API alone.
    expect([...(told.get("pi") ?? [])].toSorted()).toEqual(["pi false", "pi true"]);
    expect([...(told.get("cx") ?? [])]).toEqual(["codex true"]);
    expect([...(told.get("gm") ?? [])]).toEqual(["gemini-cli false"]);
  });

  it("are told by their purposes", () => {
    const kinds = (file: string): readonly string[] => requestsOf(file).map(({ kind }) => kind);
    expect(kinds("cc-slashcompact.json")).toEqual(["compaction", "compaction"]);
    expect(kinds("cc-tui.json")).toEqual(["side", "turn", "turn", "compaction", "compaction", "side", "turn", "turn"]);
    expect(kinds("oc-chat.json")).toEqual(["side", "turn", "turn"]);
    expect(kinds("oc-big-usage.json").slice(0, 4)).toEqual(["side", "turn", "compaction", "turn"]);
    expect(kinds("cc-agent.json")).toEqual(["turn", "turn", "turn", "turn"]);
    expect(kinds("oc-resp.json")).toEqual(["side", "turn", "turn"]);
    expect(kinds("gm-tool.json")).toEqual(["side", "turn", "turn"]);
    expect(new Set(kinds("cx-tool.json"))).toEqual(new Set(["turn"]));
    expect(kinds("cx-loop.json")).toContain("compaction");
    expect(requestsOf("cx-remote.json").at(-1)).toMatchObject({ kind: "compaction", fixed: "compaction_trigger" });
  });
});
