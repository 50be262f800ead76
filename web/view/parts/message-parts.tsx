/** The parts of a message, each raw and under its kind. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Part, ResultContent } from "../../../src/message/message.ts";
import type { ViewerMessage } from "../../../src/viewer/viewer.ts";
import { placeOf } from "../../../src/viewer/page/cut.ts";
import { count } from "../../model/numbers.ts";
import type { SessionState } from "../../state/session.ts";
import { TextBlock } from "./text-block.tsx";

/** The properties of a message's parts. */
export interface MessagePartsProps {
  readonly state: SessionState;
  readonly message: ViewerMessage;
  /** The name under which its texts stay open. */
  readonly name: string;
}

/** All parts of a message. */
export function MessageParts({ state, message, name }: MessagePartsProps): JSX.Element {
  if (message.parts.length === 0) return <p class="quiet">No parts.</p>;
  return (
    <>
      {message.parts.map((part, index) => (
        <PartView key={index} {...{ state, message, part, name }} place={placeOf(index)} />
      ))}
    </>
  );
}

interface PartProps extends MessagePartsProps {
  readonly part: Part | ResultContent;
  readonly place: string;
}

function PartView(props: PartProps): JSX.Element {
  const { state, message, part, place, name } = props;
  const text = (value: string): JSX.Element => (
    <TextBlock
      state={state}
      name={`${name}/${place}`}
      text={value}
      total={message.cut?.[place]}
      more={message.seq > 0 ? (from, to) => state.source.text(state.id, message.seq, place, from, to) : undefined}
    />
  );
  switch (part.type) {
    case "text":
      return text(part.text);
    case "reasoning":
      return (
        <section class="part">
          <PartHead kind="reasoning" words={part.signature === undefined ? "" : "signed"} />
          {text(part.text)}
        </section>
      );
    case "tool-call":
      return (
        <section class="part">
          <PartHead kind="call" name={part.name} words={part.callId} />
          {text(part.argsText ?? JSON.stringify(part.args))}
        </section>
      );
    case "tool-result":
      return (
        <section class={part.isError ? "part is-error" : "part"}>
          <PartHead kind={part.isError ? "error result" : "result"} name={part.name ?? ""} words={part.callId} />
          {typeof part.content === "string"
            ? text(part.content)
            : part.content.map((piece, at) => <PartView key={at} {...props} part={piece} place={`${place}.${at}`} />)}
        </section>
      );
    case "image":
    case "file":
      return <Media {...props} part={part} />;
    case "opaque":
      return (
        <section class="part">
          <PartHead kind="block" name={part.kind} words="passed through unread" />
          {text(JSON.stringify(part.data))}
        </section>
      );
  }
}

function PartHead(props: { readonly kind: string; readonly name?: string; readonly words?: string }): JSX.Element {
  return (
    <header class="part-head">
      <span class="part-kind">{props.kind}</span>
      {props.name ? <b>{props.name}</b> : null}
      {props.words ? <span class="quiet">{props.words}</span> : null}
    </header>
  );
}

/** The types of images that a page draws; all others are named. */
const drawn = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function Media({ state, message, part, place }: PartProps): JSX.Element | null {
  const shown = useSignal("");
  const fault = useSignal("");
  if (part.type !== "image" && part.type !== "file") return null;
  const size = part.type === "image" && part.width ? ` ${part.width} × ${part.height ?? "?"}` : "";
  const held = part.url?.startsWith("blob:") === true || part.data !== undefined;
  const load = async (): Promise<void> => {
    try {
      if (!state.source.blob) throw new Error("No images are held here; the session on disk has them.");
      const { data } = await state.source.blob(state.id, message.seq, place);
      shown.value = await dataAddress(data, part.mediaType);
      fault.value = `${count(data.length)} bytes`;
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <section class="part">
      <PartHead kind={part.type} words={`${part.mediaType}${size}`} />
      {part.url && !held ? <code class="quiet">{part.url}</code> : null}
      {shown.value ? <img src={shown.value} alt={`${part.mediaType} of message ${message.seq}`} /> : null}
      {held && drawn.has(part.mediaType) && !shown.value ? (
        <button type="button" class="small" onClick={() => void load()}>
          show the image
        </button>
      ) : null}
      {fault.value ? <span class="quiet">{fault.value}</span> : null}
    </section>
  );
}

/** Bytes as an address that the page's policy lets an image have. */
function dataAddress(data: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(typeof reader.result === "string" ? reader.result : ""));
    reader.addEventListener("error", () => reject(new Error("The image cannot be read.")));
    reader.readAsDataURL(new Blob([data], { type: mediaType }));
  });
}
