/** The examination of a store: every session's documents and lines, and last the place around them. Only what a restore left that was cut short is removed. */
import { WindrowError, isWindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Head, PlacedLine, Step } from "../engine.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "../format/documents.ts";
import { sealIn } from "../format/seal.ts";
import { addFinding, countedState, examineLines, examineLosses } from "../shared/examine-lines.ts";
import type { LinesUnderExamination } from "../shared/examine-lines.ts";
import { LossCheck } from "../shared/losses.ts";
import { heldBy, holdingOf } from "../shared/remote.ts";
import { formatVersion, isAboutRecords, ownerNamed, ownerOf } from "../shared/rules.ts";
import { StateCount } from "../shared/state-count.ts";
import type { Examined, Finding, SessionMetadata } from "../store.ts";
import { memoryLogIds, memoryNames, memoryPurpose } from "../memory-logs.ts";
import { encodeMark, listingOf, markListing } from "../shared/mark.ts";
import { change, fileOf, headsOf, markOf } from "./found.ts";
import type { Core } from "./found.ts";
import { linesOf, numbersOf } from "./lines.ts";

/** Looks at a session that changes meanwhile. */
const looks = 3;

/**
 * Examines every session, whoever owns it.
 *
 * @throws WindrowError `aborted`, `store-unavailable`
 */
export async function* examine(core: Core, mend: boolean, signal?: AbortSignal): AsyncGenerator<Examined> {
  // First: what the place itself hides is not missing.
  const around: Finding[] = [...((await core.engine.examine?.(mend)) ?? [])];
  const isReadable = around.every(
    ({ mended, severity, problem }) => mended || severity === "notice" || problem === "stale-index",
  );
  for await (const head of headsOf(core, {})) {
    if (signal?.aborted) {
      throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
    }
    const finding = (await examineMark(core, head, mend)) ?? (await examineDraft(core, head, mend));
    if (finding) around.push(finding);
    const examined = await examineSession(core, head, mend, isReadable);
    if (examined) yield examined;
  }
  if (mend && around.some(({ problem, mended }) => problem === "draft" && mended)) await core.engine.scrub?.();
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: around };
}

/**
 * Writes what sessions are listed by anew, from their documents.
 *
 * @returns how many sessions there are
 */
export async function rebuildListings(core: Core): Promise<number> {
  core.alive();
  await core.engine.examine?.(true);
  // One that is listed elsewhere by then may come twice.
  const ids = new Set<string>();
  for await (const { id } of headsOf(core, {})) {
    await change(core, async () => {
      const head = await core.engine.head(id);
      const step = head && listingStep(head, documentsOf(head));
      if (head && !(step?.listing ?? head.listing).isHidden) ids.add(id);
      return step && [head, step];
    });
  }
  return ids.size;
}

type Decoded = ReturnType<typeof documentsOf>;

function documentsOf({ id, documents }: Head) {
  const state = parseDocument(documents.state);
  return {
    metadata: decodeMetadata(parseDocument(documents.metadata), id),
    state: decodeState(state),
    seal: sealIn(state),
  };
}

/** The step that writes what a session is listed by anew; undefined where it is right. */
function listingStep(head: Head, { metadata, state }: Decoded): Pick<Step, "listing"> | undefined {
  if (!metadata || !state) return undefined;
  const { listing } = head;
  const right = listingOf(metadata, state, markOf(head));
  const names = ["tenant", "user", "status", "createdMs", "isHidden", "asideOf"] as const;
  return names.every((name) => right[name] === listing[name]) ? undefined : { listing: right };
}

async function examineSession(
  core: Core,
  first: Head,
  mend: boolean,
  isReadable: boolean,
): Promise<Examined | undefined> {
  let head: Head | undefined = first;
  for (let look = 1; head && !markListing(markOf(head)).isHidden && look <= looks; look += 1) {
    try {
      return await examineHead(core, head, mend, isReadable);
    } catch (error) {
      // It went, came back or was archived while it was read.
      if (!isWindrowError(error, "session-not-found") && !isAboutRecords(error)) throw error;
      head = await core.engine.head(first.id);
    }
  }
  return undefined;
}

async function examineHead(core: Core, head: Head, mend: boolean, isReadable: boolean): Promise<Examined> {
  const { id } = head;
  const documents = documentsOf(head);
  const metadata = documents.metadata ?? salvaged(head);
  const isAtWork = heldBy(head) !== undefined;
  const { llmCallCount = 0, toolCallCount = 0, archived } = documents.state ?? {};
  const check = new LossCheck(documents.seal, archived ? 0 : (await numbersOf(core, { id, head })).pos);
  if (llmCallCount + toolCallCount > 0) check.imply(1);
  const findings: Finding[] = [];
  const lines: LinesUnderExamination = {
    ...{ id, findings, check, count: new StateCount(metadata.createdAt), inDamage: new Set<string>() },
    putAside: undefined,
    linesOf: (log) => readable(linesOf(core, { id, head }, log)),
    placeOf: (log) => fileOf(core, log),
  };
  if (archived) {
    const nothing = { records: 0, goodBytes: 0, badBytes: 0 };
    return { sessionId: id, ...nothing, findings, archived: { mark: archived, owner: ownerOf(metadata) } };
  }
  const total = await examineLines(lines);
  for (const { file, length, problem } of core.engine.recovered?.(head) ?? []) {
    if (problem !== "damaged") continue;
    const message =
      "A large value that a line names is missing or damaged. The line shows its beginning and its end; restore it.";
    addFinding(lines, { problem: "blob-missing", file, length, message, remedy: "backup" });
  }
  if (isReadable) examineLosses(lines, "sessions");
  await examineDocuments(core, head, lines, mend && !isAtWork);
  const { state, owner } = holdingOf(head);
  if (state === "gone" && owner) {
    const message = `Its process ${owner.processId} died without letting go. Resume it, or let the monitor end it.`;
    addFinding(lines, { problem: "holder-gone", severity: "notice", message });
  }
  return { sessionId: id, ...total, findings };
}

/** The documents, and what the session is listed by. */
async function examineDocuments(core: Core, head: Head, lines: LinesUnderExamination, mend: boolean): Promise<void> {
  const { id } = head;
  const documents = documentsOf(head);
  const metadata = documents.metadata ?? salvaged(head);
  const state = documents.state ?? countedState(lines, metadata);
  const unreadable = (["metadata", "state"] as const).filter((name) => !documents[name]);
  const mark = markOf(head);
  const before = [...(mark.unreadable ?? []), ...unreadable.map((name) => head.documents[name])];
  const texts = {
    ...(!documents.metadata && { metadata: encodeMetadata(metadata) }),
    ...(!documents.state && { state: encodeState(state) }),
    ...(unreadable.length > 0 && { mark: encodeMark({ ...mark, unreadable: before }) }),
  };
  const listing = listingStep(head, { ...documents, metadata, state });
  if (unreadable.length === 0 && !listing) return;
  const step = { id, at: head.revision, documents: texts, ...listing, isDurable: true };
  const mended = mend && (await core.engine.commit([step]))[0] === true;
  for (const name of unreadable) {
    const from = name === "metadata" ? "what it is listed by" : "the usage and tool calls, which are counted again";
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text stays in \`unreadable\` of its mark.`;
    addFinding(lines, { problem: `${name}-unreadable`, file: "sessions", message, mended });
  }
  if (!listing) return;
  const message = "What it is listed by says something else than its metadata and state. It is copied again.";
  addFinding(lines, { problem: "stale-index", file: "sessions", message, mended });
}

/** Lines, until a log turns out to be gone: what it lacks is missing. */
async function* readable(lines: AsyncIterable<PlacedLine>): AsyncGenerator<PlacedLine> {
  try {
    yield* lines;
  } catch (error) {
    if (!isWindrowError(error, "store-corrupt")) throw error;
  }
}

/** The metadata as far as what the session is listed by, and the text of the broken one, still say it. */
function salvaged({ id, listing, documents }: Head): SessionMetadata {
  const textOf = (name: string): string | undefined =>
    new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*)"`).exec(documents.metadata)?.[1];
  const objectOf = (name: string): JsonObject =>
    parseDocument(new RegExp(`"${name}"\\s*:\\s*(\\{[^{}]*\\})`).exec(documents.metadata)?.[1] ?? "") ?? {};
  const owner = { ...ownerNamed({ tenant: textOf("tenant"), user: textOf("user") }), ...ownerNamed({ ...listing }) };
  const memory = memoryNames.find((name) => memoryLogIds(owner, name).includes(id));
  const config = objectOf("config");
  return {
    ...{ uuid: id, processId: 0, hostname: "", format: formatVersion, ...owner },
    taskKey: memory === undefined ? objectOf("task_key") : { memory },
    // A memory whose log says no more what it is could neither be read nor lose anything.
    config: memory === undefined ? config : { ...config, purpose: memoryPurpose },
    createdAt: textOf("created_at") ?? new Date(listing.createdMs).toISOString(),
  };
}

/** A session that lists show or leave out against its mark. */
async function examineMark({ engine }: Core, head: Head, mend: boolean): Promise<Finding | undefined> {
  const right = markListing(markOf(head));
  if (right.isHidden === head.listing.isHidden) return undefined;
  const message = `Lists ${right.isHidden ? "show it, though its mark hides it" : "leave it out, though no mark hides it"}.`;
  const step = { id: head.id, at: head.revision, listing: { ...head.listing, ...right }, isDurable: true };
  const mended = mend && (await engine.commit([step]))[0] === true;
  return { problem: "stale-index", severity: "damage", sessionId: head.id, message, mended };
}

/** What a restore left that was cut short; undefined for a session that is hidden for another reason. */
async function examineDraft(core: Core, head: Head, mend: boolean): Promise<Finding | undefined> {
  const mark = markOf(head);
  if (!mark.isRestoring || mark.asideOf !== undefined) return undefined;
  const isAtWork = heldBy(head) !== undefined;
  const message =
    "The beginning of a session that a restore left when it was cut short. It is removed: the whole of it is where it came from.";
  const mended = mend && !isAtWork && (await core.engine.remove(head.id, head.revision));
  return { problem: "draft", severity: isAtWork ? "notice" : "damage", sessionId: head.id, message, mended };
}
