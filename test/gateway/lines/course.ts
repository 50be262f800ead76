/** A whole course: an agent, the gateway over a stage's lines, and a fake provider that checks what it is sent. */
import { onTestFinished } from "vitest";
import { serveGateway, wireApis } from "windrow/gateway";
import type { Lines, LinesOptions } from "windrow/gateway";
import { runAgent } from "../fake/agent.ts";
import type { AgentOptions, AgentRun } from "../fake/agent.ts";
import { startFake } from "../fake/fake.ts";
import type { Fake, FakeOptions } from "../fake/fake.ts";
import { openStage } from "./stage.ts";
import type { Stage } from "./stage.ts";

export interface Course {
  readonly stage: Stage;
  readonly fake: Fake;
  /** The bodies as the client sent them. */
  readonly raws: readonly Buffer[];
  readonly notes: readonly string[];
  readonly run: (agent?: Partial<AgentOptions>) => Promise<AgentRun>;
}

/** @param restarts - whether the lines are opened anew before the n-th request, counted from 1 */
export async function course(
  options: FakeOptions,
  lines: Partial<LinesOptions>,
  agent: Partial<AgentOptions>,
  restarts: (n: number) => boolean = () => false,
): Promise<Course> {
  const fake = await startFake({ scenario: 'loop:24:read:{"path":"src/{k}.ts"}', ...options });
  onTestFinished(() => fake.close());
  const stage = await openStage(lines);
  const raws: Buffer[] = [];
  const notes: string[] = [];
  const watched: Lines = {
    async send(request, tenant) {
      raws.push(request.call.body);
      if (restarts(raws.length)) await stage.restart();
      const sending = await stage.lines.send(request, tenant);
      notes.push(sending.note);
      return sending;
    },
    close: () => stage.lines.close(),
  };
  const upstreams = { anthropic: fake.url, openai: fake.url, gemini: fake.url, ollama: fake.url };
  const limits = { linesMs: 60_000 };
  const gateway = await serveGateway({ port: 0, apis: wireApis, lines: watched, upstreams, limits, env: {} });
  onTestFinished(() => gateway.close());
  const given = { url: gateway.url, api: "anthropic", session: "s-1", ...agent } as const;
  return { stage, fake, raws, notes, run: (more) => runAgent("Read all files.", { ...given, ...more }) };
}
