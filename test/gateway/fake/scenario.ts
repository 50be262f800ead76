/** The scripts of the fake: the answer to a request, told from the request alone, so that a repeated one is answered alike. */
import type { Block, Reading } from "./reading.ts";
import { object, ofSchema } from "./json.ts";
import type { Json } from "./json.ts";

/** `plain`, `tool:NAME:JSON`, `loop:N:NAME:JSON`, `mixed:NAME:JSON`, `unknown-tool`, `sse-error:N`, `drop:N`, … */
export interface Scenario {
  readonly kind: string;
  /** The N of `loop`, `sse-error`, `drop`, `529`, `429`, `overflow` and `slow`. */
  readonly count: number;
  readonly tool?: string;
  /** JSON of the arguments; `{k}` in it stands for the number of the call. */
  readonly template: string;
}

export function scenarioOf(script: string): Scenario {
  const [kind = "plain", ...rest] = script.split(":");
  if (kind === "loop") {
    const [count, tool, ...template] = rest;
    return { kind, count: Number(count), tool: tool!, template: template.join(":") || "{}" };
  }
  if (kind === "tool" || kind === "mixed") {
    const [tool, ...template] = rest;
    return { kind, count: 1, tool: tool!, template: template.join(":") || "{}" };
  }
  // `script:[[["read_file",{}]],…]`: the calls of each step.
  if (kind === "script") return { kind, count: 1, template: rest.join(":") };
  const usual = { "529": 2, "429": 2, "slow": Infinity }[kind] ?? 1;
  return { kind, count: rest[0] === undefined ? usual : Number(rest[0]), template: "{}" };
}

export interface Call {
  readonly name: string;
  readonly args: Json;
}

export interface Reply {
  /** The number of the step within its turn, which the ids of its calls carry. */
  readonly step: number;
  readonly text: string;
  readonly calls: readonly Call[];
  /** An item that stands for a compacted history. */
  readonly compaction?: true;
}

const done = "OK done.";
const recall: Call = { name: "windrow_recall", args: { id: "m12" } };

export function replyTo(reading: Reading, scenario: Scenario): Reply {
  const step = stepOf(reading.blocks);
  if (reading.compaction === "item") return { step, text: "", calls: [], compaction: true };
  if (reading.schema !== undefined) return { step, text: JSON.stringify(ofSchema(reading.schema)), calls: [] };
  if (reading.compaction !== undefined) return { step, text: "Summary: the files were read one by one.", calls: [] };
  if (!reading.hasTools) return { step, text: done, calls: [] };
  const calls = callsAt(step, scenario);
  return calls.length === 0 ? { step, text: done, calls } : { step, text: `Step ${step + 1}.`, calls };
}

function callsAt(step: number, scenario: Scenario): readonly Call[] {
  const { kind, tool, template, count } = scenario;
  const named = (): Call => ({ name: tool!, args: object(JSON.parse(template.replaceAll("{k}", String(step + 1)))) });
  if (kind === "loop") return step < count ? [named()] : [];
  if (kind === "script") {
    const steps = JSON.parse(template) as readonly (readonly (readonly [string, Json])[])[];
    return (steps[step] ?? []).map(([name, args]) => ({ name, args }));
  }
  if (step > 0) return [];
  if (kind === "tool") return [named()];
  if (kind === "unknown-tool") return [recall];
  if (kind === "mixed") return [recall, named()];
  return [];
}

/**
 * How many steps of the turn are done: the ids of the newest results say it, or the words before them, whatever is left of the
 * older ones.
 */
function stepOf(blocks: readonly Block[]): number {
  const last = blocks.findLastIndex(({ role, kind }) => role === "assistant" && kind !== "result");
  const results = blocks.slice(last + 1).filter(({ kind }) => kind === "result");
  if (results.length === 0) return 0;
  const steps = results.map(({ id = "" }) => Number(/_(\d+)_[0-9a-f]{8}/.exec(id)?.[1] ?? Number.NaN));
  const known = steps.filter((step) => !Number.isNaN(step));
  if (known.length > 0) return Math.max(...known) + 1;
  const said = /^Step (\d+)\./.exec(
    blocks.findLast(({ role, kind }) => role === "assistant" && kind === "text")?.text ?? "",
  );
  return said ? Number(said[1]) : blocks.filter(({ kind }) => kind === "result").length;
}
