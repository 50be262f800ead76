/** One session costs the same wherever it is priced: `usage`, `replay`, `stats`, `view` and the viewer. */
import { describe, expect, it } from "vitest";
import { loadCounter } from "windrow";
import { openStore } from "windrow/store";
import { readTranscripts, replay } from "windrow/transcript";
import { storedSource } from "windrow/viewer";
import { newFolder, put, windrow } from "./stage.ts";

/** The dollars of a file's sessions together, by the door that says them; null where none has a price. */
type Doors = Readonly<Record<"replay" | "stats" | "view" | "viewer", number | null>>;

async function doorsOf(file: string): Promise<Doors> {
  const counter = await loadCounter("estimate");
  const options = { strategies: [], budgets: [32_000], profile: "anthropic", counter, calibrate: false };
  const recorded: (number | null | undefined)[] = [];
  for (const transcript of await readTranscripts(file)) {
    recorded.push((await replay(transcript, options)).recorded?.cost.dollars);
  }
  const store = await newFolder();
  expect((await windrow(["import", file, "--finished", "--store", store])).status).toBe(0);
  const stats = JSON.parse((await windrow(["stats", "--store", store, "--json"])).stdout) as {
    readonly usage: { readonly dollars: number | null };
  };
  const [views, viewed]: [(number | null)[], (number | null | undefined)[]] = [[], []];
  const opened = await openStore(store);
  const source = storedSource(opened, {});
  for (const { id } of (await source.sessions({})).sessions) {
    viewed.push((await source.session(id)).dollars);
    const { stdout } = await windrow(["view", id, "--store", store], {}, false, 0);
    const [, dollars] = /\$(<?[\d.,]+)/.exec(stdout) ?? [];
    views.push(dollars === undefined ? null : dollars === "<0.01" ? 0 : Number(dollars.replaceAll(",", "")));
  }
  await opened.close();
  return { replay: sumOf(recorded), stats: stats.usage.dollars, view: sumOf(views), viewer: sumOf(viewed) };
}

function sumOf(dollars: readonly (number | null | undefined)[]): number | null {
  const known = dollars.filter((value) => typeof value === "number");
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** A session of Claude Code as lines, each below the line before it if it names no other. */
class Lines {
  readonly #rows: object[] = [];

  add(type: "user" | "assistant" | "attachment", more: object, parentUuid = this.#newest()): string {
    const uuid = `00000000-0000-4000-8000-0000000000${10 + this.#rows.length}`;
    const timestamp = `2026-01-02T03:04:${10 + this.#rows.length}.000Z`;
    const sessionId = "8f14e45f-ceea-4672-9d2a-3f2b1c0a7e11";
    this.#rows.push({ type, uuid, parentUuid, sessionId, timestamp, cwd: "/repo", version: "2.1.0", ...more });
    return uuid;
  }

  #newest(): string | null {
    return (this.#rows.at(-1) as { readonly uuid: string } | undefined)?.uuid ?? null;
  }

  /** A line of an answer. */
  answer(id: string, block: object, usage: object, { model = "claude-sonnet-4-5", ...more }: Answer = {}): string {
    const { parentUuid, ...fields } = more;
    const message = { id, role: "assistant", model, content: [block], usage };
    return this.add("assistant", { requestId: `req_${id}`, message, ...fields }, parentUuid);
  }

  get text(): string {
    return this.#rows.map((row) => JSON.stringify(row)).join("\n");
  }
}

interface Answer {
  readonly model?: string;
  readonly parentUuid?: string;
  readonly isSidechain?: true;
  readonly agentId?: string;
}

function usageOf(plain: number, read: number, written: number, hour: number, output: number): object {
  return {
    ...{ input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written },
    cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
    output_tokens: output,
  };
}

/**
 * A session whose cache keeps some of its writes for an hour: an answer in four lines with queued words between them, an
 * answer that was retried by another model, and a sub-agent.
 */
function hourSession(): string {
  const lines = new Lines();
  const said = (content: unknown): object => ({ message: { role: "user", content } });
  const call = (id: string): object => ({ type: "tool_use", id, name: "Read", input: { file_path: `${id}.ts` } });
  const first = usageOf(1_000, 0, 100_000, 60_000, 5_000);
  lines.add("user", said("Mend the parser."));
  lines.answer("m1", { type: "text", text: "I look." }, usageOf(1_000, 0, 100_000, 60_000, 10));
  lines.answer("m1", call("c1"), first);
  lines.add("attachment", { attachment: { type: "queued_command", prompt: "And its tests." } });
  lines.answer("m1", call("c2"), first);
  lines.answer("m1", call("c3"), first);
  const asked = lines.add(
    "user",
    said(["c1", "c2", "c3"].map((id) => ({ type: "tool_result", tool_use_id: id, content: id }))),
  );
  lines.answer("m2", { type: "text", text: "Not this way." }, usageOf(300_000, 0, 0, 0, 1_000));
  const side = { isSidechain: true, agentId: "a1" } as const;
  const task = lines.add("user", { ...said("Find its tests."), ...side });
  const parentUuid = task;
  lines.answer("m3", { type: "text", text: "They are there." }, usageOf(10_000, 0, 20_000, 0, 100), {
    ...side,
    parentUuid,
  });
  const other = { model: "claude-haiku-4-5", parentUuid: asked };
  lines.answer("m4", { type: "text", text: "Mended." }, usageOf(50_000, 200_000, 40_000, 40_000, 2_000), other);
  return lines.text;
}

/** Its dollars by hand: the tokens of each call at the prices of its model, an hour's writes at twice the input's. */
const hourDollars =
  (1_000 * 3 + 40_000 * 3.75 + 60_000 * 6 + 5_000 * 15) / 1e6 +
  (300_000 * 3 + 1_000 * 15) / 1e6 +
  (10_000 * 3 + 20_000 * 3.75 + 100 * 15) / 1e6 +
  (50_000 * 1 + 200_000 * 0.1 + 40_000 * 2 + 2_000 * 5) / 1e6;

describe("a session with writes for an hour, a retry, a sub-agent and two models", () => {
  it("costs the same everywhere", async () => {
    const home = await newFolder();
    const file = await put(home, ".claude/projects/-repo/one.jsonl", hourSession());
    const { stdout } = await windrow(["usage", "--json", "--agent", "claude-code"], { HOME: home });
    const { total } = JSON.parse(stdout) as { readonly total: { readonly dollars: number; readonly calls: number } };
    expect(total.calls).toBe(4);
    expect(total.dollars).toBeCloseTo(hourDollars, 9);
    const { view, ...doors } = await doorsOf(file);
    for (const dollars of Object.values(doors)) expect(dollars).toBeCloseTo(hourDollars, 6);
    // Two sessions, each to the cent.
    expect(view).toBeCloseTo(hourDollars, 1);
  });

  it("is named in the table of replay with the calls that are no part of it", async () => {
    const file = await put(await newFolder(), "one.jsonl", hourSession());
    const { stdout } = await windrow(["replay", file, "-s", "none", "-b", "900k"], {}, false, 0);
    const words = stdout.replaceAll(/\s+/g, " ");
    expect(stdout).toMatch(/as recorded .* 1\.66 /);
    expect(words).toContain("$: input, cache and the output that the file reports, at list prices.");
    expect(words).toContain("In the cost of every row, as they were: 1 call whose answers are no part of the session");
    expect(words).toContain("it kept 71 % of what was written for an hour");
  });
});
