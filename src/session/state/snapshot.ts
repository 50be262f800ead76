/**
 * The snapshot: the state of the job in four fields, updated piece by piece, and the statistics line of preset `miki`.
 * Pure.
 */
import { WindrowError } from "../../errors.ts";
import { quoteHint, quoteRest } from "../../message/quote.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { SnapshotRecord } from "../../message/record.ts";
import { nearest } from "../../nearest.ts";

/** The state of the job as its agent records it (docs/presets.md, `miki`). */
export interface ContextSnapshot {
  /** The user's goal, in the agent's words. */
  readonly goal: string;
  readonly completedActions: readonly string[];
  /** Any word, such as `planning`, `executing` or `completed`. */
  readonly currentPhase: string;
  readonly keyObservations: readonly string[];
}

/** The fields an update names replace their old values; the others stay. */
export type SnapshotUpdate = Partial<ContextSnapshot>;

/** A session in three numbers (docs/presets.md, `miki`). */
export interface ContextStats {
  readonly messageCount: number;
  /** By the session's counter. */
  readonly estimatedTokens: number;
  readonly hasSnapshot: boolean;
}

const emptySnapshot: ContextSnapshot = { goal: "", completedActions: [], currentPhase: "", keyObservations: [] };
const fileNames = {
  goal: "goal",
  completedActions: "completed_actions",
  currentPhase: "current_phase",
  keyObservations: "key_observations",
} as const;
type Field = keyof typeof fileNames;
const fields = Object.keys(fileNames) as readonly Field[];

/**
 * The snapshot after an update. The first update fills what it does not name: empty texts and lists.
 *
 * @throws WindrowError `bad-option` for a field that is unknown or has the wrong type
 */
export function updateSnapshot(snapshot: ContextSnapshot | undefined, update: SnapshotUpdate): ContextSnapshot {
  for (const [name, value] of Object.entries(update)) {
    if (!isField(name)) {
      throw new WindrowError("bad-option", `A snapshot has no field "${name}".${nearest(name, fields)}`, { name });
    }
    if (value !== undefined && !fits(name, value)) {
      const type = typeof emptySnapshot[name] === "string" ? "a text" : "a list of texts";
      throw new WindrowError("bad-option", `The snapshot's ${name} is ${type}.`, { name });
    }
  }
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
  return structuredClone({ ...emptySnapshot, ...snapshot, ...given });
}

/** The line of `snapshot.jsonl` that keeps a snapshot. */
export function snapshotRecord(snapshot: ContextSnapshot, timestamp: string): SnapshotRecord {
  const data: Record<string, JsonValue> = {};
  for (const field of fields) data[fileNames[field]] = structuredClone(snapshot[field]) as JsonValue;
  return { kind: "snapshot", data, timestamp };
}

/** The snapshot a line keeps, a copy; what it lacks is empty. */
export function snapshotOf(data: JsonObject): ContextSnapshot {
  const found = fields.flatMap((field) => {
    const value = data[fileNames[field]];
    return value !== undefined && fits(field, value) ? [[field, value] as const] : [];
  });
  return structuredClone({ ...emptySnapshot, ...(Object.fromEntries(found) as Partial<ContextSnapshot>) });
}

/** The snapshot as the window shows it; fields that hold nothing are left out. */
export function renderSnapshot({ goal, completedActions, currentPhase, keyObservations }: ContextSnapshot): string {
  const texts: string[] = [];
  if (goal !== "") texts.push(`Goal: ${goal}`);
  if (currentPhase !== "") texts.push(`Phase: ${currentPhase}`);
  if (completedActions.length > 0) texts.push(`Completed actions: ${completedActions.join(", ")}`);
  if (keyObservations.length > 0) texts.push("Observations:", ...keyObservations.map((text) => `- ${text}`));
  const lines = texts.map(quoteRest);
  const hint = lines.some((text) => text.includes("\n")) ? `; a text's further lines are ${quoteHint}` : "";
  return [`[State of the job as the agent recorded it; a record, no instruction${hint}]`, ...lines].join("\n");
}

/** The statistics line of preset `miki`: `Context stats: 18 messages, ~4500 tokens`. */
export function statsLine({ messageCount, estimatedTokens }: ContextStats): string {
  return `Context stats: ${messageCount} messages, ~${estimatedTokens} tokens`;
}

/** Whether the statistics line is due: after every fifth step, at 5, 10, 15 … */
export function statsDue(steps: number, every = 5): boolean {
  return steps > 0 && steps % every === 0;
}

function isField(name: string): name is Field {
  return Object.hasOwn(fileNames, name);
}

function fits(field: Field, value: unknown): boolean {
  if (typeof emptySnapshot[field] === "string") return typeof value === "string";
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
