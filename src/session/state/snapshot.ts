/** The snapshot: the state of the job in four fields, updated piece by piece. Pure. */
import { defined } from "../../message/json.ts";
import { quoteHint, quoteRest } from "../../message/quote.ts";
import type { JsonObject } from "../../message/message.ts";
import type { SnapshotRecord } from "../../message/record.ts";
import { inMemory, onDisk } from "../../window/epoch/record.ts";
import { checkGiven, kinds, listOf } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";

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

const emptySnapshot: ContextSnapshot = { goal: "", completedActions: [], currentPhase: "", keyObservations: [] };

const snapshotKinds = {
  goal: kinds.text,
  completedActions: listOf(kinds.text),
  currentPhase: kinds.text,
  keyObservations: listOf(kinds.text),
} as const satisfies Record<keyof ContextSnapshot, Kind>;

/**
 * The snapshot after an update. The first update fills what it does not name: empty texts and lists.
 *
 * @throws WindrowError `bad-option` for a field that is unknown or has the wrong type
 */
export function updateSnapshot(snapshot: ContextSnapshot | undefined, update: SnapshotUpdate): ContextSnapshot {
  checkGiven("The snapshot", update, snapshotKinds);
  return structuredClone({ ...emptySnapshot, ...snapshot, ...defined(update) });
}

/** The line of `snapshot.jsonl` that keeps a snapshot. */
export function snapshotRecord(snapshot: ContextSnapshot, timestamp: string): SnapshotRecord {
  return { kind: "snapshot", data: structuredClone(onDisk(snapshot)), timestamp };
}

/** The snapshot a line keeps, a copy; what it lacks is empty. */
export function snapshotOf(data: JsonObject): ContextSnapshot {
  const given = inMemory(data);
  const found = Object.entries(snapshotKinds).filter(([field, kind]) => kind.fits(given[field]));
  return structuredClone({ ...emptySnapshot, ...Object.fromEntries(found.map(([field]) => [field, given[field]])) });
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
