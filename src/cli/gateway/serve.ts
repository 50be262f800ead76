/** `windrow gateway` while it serves: the store, the page, and the server between agents and their providers. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { ComposingOptions } from "../../gateway/gateway.ts";
import { openLines } from "../../gateway/lines/lines.ts";
import type { LinesEvent } from "../../gateway/lines/lines.ts";
import type { GatewayEvent } from "../../gateway/proxy/events.ts";
import { serveGateway } from "../../gateway/proxy/server.ts";
import { tenantsBy } from "../../gateway/tenant.ts";
import { wireApis } from "../../gateway/wire/apis.ts";
import { isLoopbackAddress, newToken } from "../../http/bearer.ts";
import type { SessionEvent } from "../../session/events.ts";
import { searchFolderOf } from "../../search/folder.ts";
import type { Store } from "../../store/store.ts";
import { eachInTurn } from "../../turns.ts";
import { viewerHandler } from "../../viewer/serve/handler.ts";
import { storedSource } from "../../viewer/stored-source.ts";
import { exitStatus, onStoreAbout } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";
import { openBrowser } from "../open-browser.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { keptLine } from "./kept-calls.ts";
import { secretOf } from "./secret.ts";
import { tokenOf, variableOf } from "./token.ts";
import { untilEnded } from "../until-ended.ts";
import { budgetOption, portOf } from "../values.ts";

/** The flags of `windrow gateway`, which its subcommands hand on. */
export interface GatewayFlags extends ScopeFlags {
  readonly store: string;
  readonly port: string;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly token?: string;
  readonly budget: string;
  readonly edits?: NonNullable<ComposingOptions["edits"]>;
  readonly recall?: NonNullable<ComposingOptions["recall"]>;
  readonly upstream?: readonly string[];
  readonly open?: boolean;
  readonly tied?: boolean;
  readonly json?: boolean;
}

/** The variable of the page's token, so that a gateway that is started again goes on with the pages that are open. */
const pageVariable = "WINDROW_VIEWER_TOKEN";

/**
 * Serves until it is told to end.
 *
 * @throws WindrowError `bad-option` for a flag that does not fit
 */
export async function runGateway(
  flags: GatewayFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const port = portOf("--port", flags.port);
  const upstreams = upstreamsOf(flags.upstream ?? []);
  const composing = composingOf(flags);
  const token = tokenOf(flags.token, io);
  return onStoreAbout(io, { store: flags.store, create: true }, flags.store, async (store) => {
    const pageToken = variableOf(io, pageVariable) ?? newToken();
    const secret = await secretOf(flags.store, io);
    const on = (event: LinesEvent): void => void io.stderr.write(`windrow: ${toldOf(event)}\n`);
    let calls = 0;
    const onSession = (event: SessionEvent): void => {
      if (event.type === "usage-recorded") calls += 1;
      io.log(event);
    };
    const lines = await openLines({ store, secret, ...composing, on, onSession });
    const gateway = await serveGateway({
      ...{ port, host: flags.host, upstreams, env: io.env },
      ...{ apis: wireApis, lines, tenants: tenantsBy(secret) },
      ui: pageOf(store, flags, io, pageToken),
      on: (event) => io.log(logged(event)),
      ...(token !== undefined && { token }),
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
    });
    try {
      const { url } = gateway;
      const link = `${url}/-/ui/#token=${encodeURIComponent(pageToken)}`;
      if (!isLoopbackAddress(flags.host)) {
        const warning = "keys and conversations of its clients are sent without encryption";
        io.stderr.write(`windrow: warning: other machines reach ${url}: ${warning}.\n`);
      }
      const mode = modeOf(composing);
      const report = { url, mode, store: flags.store, link };
      // The link opens every session: on a terminal it is for who started this, and a file would keep it.
      const shown = io.stdout.isTTY === true ? `${link}\n` : "";
      io.stdout.write(
        flags.json === true ? `${JSON.stringify(report)}\n` : `${url} ${mode}, store ${flags.store}\n${shown}`,
      );
      if (flags.open === true) openBrowser(link, io.env);
      await untilEnded(signal, (done) => {
        process.once("SIGTERM", done);
        if (flags.tied === true) process.stdin.once("end", done).once("close", done).resume();
      });
    } finally {
      // A standard input that is still read would keep the process.
      if (flags.tied === true) process.stdin.destroy();
      await eachInTurn([() => gateway.close(), () => lines.close()]);
      if (flags.tied === true) io.stdout.write(keptLine(calls));
    }
    return exitStatus.done;
  });
}

/** The page of the store's sessions, below `/-/ui`. */
function pageOf(
  store: Store,
  flags: GatewayFlags,
  io: CommandIo,
  token: string,
): (request: Request) => Promise<Response> {
  const index = searchFolderOf(flags.store);
  const source = storedSource(store, scopeOf(io, flags), index === undefined ? {} : { searchIndex: index });
  const onError = (error: Error): void => void io.stderr.write(`windrow: ${error.message}\n`);
  return viewerHandler({ source, token, base: "/-/ui", onError });
}

function composingOf({ budget, edits, recall }: GatewayFlags): ComposingOptions {
  if (budget === "off") {
    if (edits === undefined) return {};
    const message = `--edits ${edits} needs --budget, the tokens that a request may have.`;
    throw new WindrowError("bad-option", message, { flag: "--edits" });
  }
  return {
    budget: budgetOption("--budget", budget),
    ...(edits !== undefined && { edits }),
    ...(recall !== undefined && { recall }),
  };
}

function modeOf({ budget, edits }: ComposingOptions): string {
  if (budget === undefined) return "observing";
  const size = budget === "auto" ? "what each conversation needs" : `${budget} tokens`;
  return edits === "provider" ? `asking providers to keep to ${size}` : `composing to ${size}`;
}

function upstreamsOf(given: readonly string[]): Readonly<Record<string, string>> {
  const pairs = given.map((text) => {
    const [, name = "", address = ""] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name !== "") return [name, address] as const;
    const message = `--upstream is a name and an address, for example corp=https://llm.example.com, not "${text}".`;
    throw new WindrowError("bad-option", message, { flag: "--upstream" });
  });
  return Object.fromEntries(pairs);
}

const effects: Readonly<Record<Exclude<LinesEvent["type"], "edits-unavailable">, string>> = {
  "request-bypassed": "a request passed as it came",
  "request-not-kept": "a request was not kept",
  "session-left": "a conversation goes on in a new session",
};

/** A failure of lines as a line for people; the error's own words name no key. */
function toldOf({ type, reason, error }: LinesEvent): string {
  if (type === "edits-unavailable") {
    return `--edits provider: ${reason} has no edits of its provider's, so its requests pass as they came`;
  }
  return `${effects[type]}: ${isWindrowError(error) ? `${error.code}: ${error.message}` : reason}`;
}

/** An event as the log of `--debug` has it. */
function logged({ outcome, ...event }: GatewayEvent): { readonly type: string } {
  return { ...event, type: `gateway-${outcome}` };
}
