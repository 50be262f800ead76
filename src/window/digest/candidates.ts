/** The candidates of a digest: lines that it may show, and lines that the window shows without it. */
import type { JsonValue } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import type { ViewStep } from "../window.ts";
import { split } from "./file-view.ts";
import type { Passage } from "./passages.ts";
import type { Reader } from "./reading.ts";

/**
 * The candidates in the order they are shown: user texts, files by when they were last seen (doubtful ones first), then
 * answers and output.
 */
export function candidatesOf(reader: Reader, kept: readonly ViewStep[]): readonly Passage[] {
  const standing = new Set(kept.flatMap(({ messages }) => messages.map(({ seq }) => seq)));
  const records = reader.records
    .filter(({ seq }) => !standing.has(seq))
    .flatMap(({ label, subject, at, lines }): readonly Passage[] =>
      split({ at, lines }, (line) => !reader.isGone(line)).map((part) => ({ file: false, subject, label, ...part })),
    );
  const files = [...reader.files].map(([subject, view]) => {
    const { stretches, doubt } = view;
    const passages: Passage[] = [];
    for (const sure of doubt > 0 ? [false, true] : [true]) {
      for (const stretch of stretches) {
        const parts = doubt > 0 ? split(stretch, ({ seq }) => seq >= doubt === sure) : [stretch];
        for (const { at, lines } of parts) passages.push({ file: true, subject, label: "", at, lines });
      }
    }
    let newest = 0;
    for (const { lines } of stretches) for (const { seq } of lines) if (seq > newest) newest = seq;
    return { newest, passages };
  });
  return [
    ...records.filter(({ lines: [line] }) => line?.kind === "user"),
    ...files.toSorted((left, right) => left.newest - right.newest).flatMap(({ passages }) => passages),
    ...records.filter(({ lines: [line] }) => line?.kind !== "user"),
  ];
}

/** The texts that steps show, their calls' arguments among them. */
export function textsOf(steps: readonly ViewStep[]): readonly string[] {
  return steps.flatMap((step) =>
    step.messages.flatMap(({ message }) =>
      message.parts.flatMap((part) => {
        if (part.type === "tool-call") return leaves(part.args);
        if (part.type === "tool-result") return [resultText(part)];
        return part.type === "text" ? [part.text] : [];
      }),
    ),
  );
}

function leaves(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((item: JsonValue) => leaves(item));
}
