/** Agents, the gateway and a provider that checks what it is sent, over sockets. */
import { expect, onTestFinished, test } from "vitest";
import { serveGateway, wireApis } from "windrow/gateway";
import { runAgent } from "../fake/agent.ts";
import { startFake } from "../fake/fake.ts";
import { openStage } from "./stage.ts";

test(
  "a provider that binds thinking to its prefix finds no fault in composed requests",
  { timeout: 120_000 },
  async () => {
    const fake = await startFake({ scenario: 'loop:20:read:{"path":"src/{k}.ts"}' });
    onTestFinished(() => fake.close());
    const stage = await openStage({ budget: 24_000 });
    const gateway = await serveGateway({
      port: 0,
      apis: wireApis,
      lines: stage.lines,
      upstreams: { anthropic: fake.url },
      limits: { linesMs: 60_000 },
      env: {},
    });
    onTestFinished(() => gateway.close());
    const run = await runAgent("Read all files.", {
      url: gateway.url,
      api: "anthropic",
      session: "s-1",
      resultBytes: 8_000,
    });
    expect(run.text).toContain("OK done.");
    expect(stage.events).toEqual([]);
    expect(fake.faults).toEqual([]);
    const sizes = fake.turns().map(({ bytes }) => bytes);
    expect(sizes).toHaveLength(21);
    expect(Math.max(...sizes)).toBeLessThan(8_000 * 19);
    const [info] = await stage.sessions();
    expect(await stage.messages(info!.metadata.uuid)).toHaveLength(run.messages.length);
  },
);
