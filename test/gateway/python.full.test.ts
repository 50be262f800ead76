/** examples/gateway.py as a process, where Python is found: through a gateway, to the fake provider and back. */
import { execFile, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { serveGateway } from "windrow/gateway";
import { startFake } from "./fake/fake.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.log("left out: examples/gateway.py: there is no python3");

it.skipIf(!hasPython).each([["whole"], ["streaming", "--stream"]])("an agent in Python, %s", async (_, ...flags) => {
  const fake = await startFake({ scenario: 'loop:2:read_file:{"path":"package.json"}' });
  const gateway = await serveGateway({ port: 0, upstreams: { openai: fake.url } });
  const env = { PATH: process.env["PATH"], OPENAI_BASE_URL: `${gateway.url}/v1`, OPENAI_API_KEY: "sk-fake-0000" };
  const { stdout } = await promisify(execFile)("python3", [resolve("examples/gateway.py"), ...flags], { env });
  expect(stdout).toBe("OK done.\n");
  expect(fake.faults).toEqual([]);
  expect(fake.turns().map(({ status, extends: isExtension }) => [status, isExtension])).toEqual([
    [200, true],
    [200, true],
    [200, true],
  ]);
  expect(fake.turns()[2]!.body!.toString()).toContain(String.raw`\"name\": \"windrow\"`);
  expect(fake.requests.flatMap(({ rawHeaders }) => rawHeaders)).not.toContain("x-windrow-session");
  await Promise.all([gateway.close(), fake.close()]);
});
