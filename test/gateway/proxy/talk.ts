/** An API and lines that do what a test says, to see how the server asks them. */
import type {
  Lines,
  ServeGatewayOptions,
  Sending,
  SentAnswer,
  Answer,
  WireApi,
  WireCall,
  WireRequest,
} from "windrow/gateway";
import { ask, rawUpstream, requestOf, staged } from "./stage.ts";
import type { RawAnswer, RawUpstream, StagedGateway, Wire } from "./stage.ts";

/** An API whose answers are complete behind the word END, and which remembers what it was given. */
export interface TalkApi {
  readonly api: WireApi;
  readonly calls: WireCall[];
  /** What readers got, in order. */
  readonly read: Buffer[];
}

/** Makes an API that reads `POST /v1/messages`. */
export function talkApi(broken: { readonly reader?: boolean; readonly read?: boolean } = {}): TalkApi {
  const calls: WireCall[] = [];
  const read: Buffer[] = [];
  const api = {
    name: "anthropic-messages",
    matches: (method: string, path: string) => method === "POST" && /^\/v1\/messages(?:\?|$)/.test(path),
    read(call: WireCall): WireRequest | undefined {
      calls.push(call);
      if (broken.read) throw new Error("read broke");
      const claims = { client: "test" };
      return { api, call, kind: "turn", claims, tools: [], messages: [] } as unknown as WireRequest;
    },
    reader() {
      let text = "";
      return {
        push(chunk: Buffer) {
          if (broken.reader) throw new Error("reader broke");
          read.push(Buffer.from(chunk));
          text += chunk.toString();
          return text.includes("END");
        },
        end: (): Answer => ({ isComplete: text.includes("END"), message: { text } }),
      };
    },
    fault: (status: number, message: string) => ({
      contentType: "application/json",
      body: JSON.stringify({ status, message }),
    }),
  } as unknown as WireApi;
  return { api, calls, read };
}

/** Lines that answer by a function, and remember what they were told. */
export interface TalkLines {
  readonly lines: Lines;
  readonly tenants: string[];
  readonly kept: SentAnswer[];
  /** Resolves with the n-th answer that is kept, counted from 1. */
  readonly keeping: (n: number) => Promise<SentAnswer>;
}

/**
 * Makes lines.
 *
 * @param sendingOf - parts of a sending other than the defaults: the call's own body, nothing to try again, kept at once
 */
export function talkLines(
  sendingOf: (request: WireRequest) => Partial<Sending> | Promise<Partial<Sending>> = () => ({}),
): TalkLines {
  const tenants: string[] = [];
  const kept: SentAnswer[] = [];
  const waiting: (() => void)[] = [];
  const lines: Lines = {
    async send(request, tenant) {
      tenants.push(tenant);
      const parts = await sendingOf(request);
      return {
        body: request.call.body,
        note: "observed; session=ab12; line=main",
        again: async () => undefined,
        ...parts,
        async keep(answer) {
          kept.push(answer);
          for (const wake of waiting.splice(0)) wake();
          await parts.keep?.(answer);
        },
      };
    },
    close: async () => undefined,
  };
  const keeping = async (n: number): Promise<SentAnswer> => {
    while (kept.length < n) await new Promise<void>((resolve) => waiting.push(resolve));
    return kept[n - 1]!;
  };
  return { lines, tenants, kept, keeping };
}

export const json = "Content-Type: application/json";

/** A gateway that reads conversations, before an upstream. */
export interface Talk extends StagedGateway, TalkApi, TalkLines {
  readonly upstream: RawUpstream;
  /** Sends a request of a conversation and reads its whole answer. */
  readonly say: (headers?: readonly string[], body?: Buffer | string) => Promise<Wire>;
}

export async function talked(
  answer: RawAnswer | Buffer,
  { talk = talkLines(), api = talkApi(), ...options }: Partial<ServeGatewayOptions> & TalkOptions = {},
): Promise<Talk> {
  const upstream = await rawUpstream(answer);
  const gateway = await staged(upstream.url, { apis: [api.api], lines: talk.lines, ...options });
  const say: Talk["say"] = (headers = [json], body = "{}") =>
    ask(gateway.port, requestOf("/v1/messages", headers, body));
  return { ...gateway, ...api, ...talk, upstream, say };
}

interface TalkOptions {
  readonly talk?: TalkLines;
  readonly api?: TalkApi;
}
