/** `windrow monitor`: alerts in the log, by status, to a webhook, as metrics. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { run } from "../kit/inside/cli.ts";
import { everybody, filesStore, newSession, stateOf } from "../kit/inside/store.ts";
import { emptyStore, newFolder, windrow } from "./stage.ts";

async function storeWith(...ends: readonly ("completed" | "failed")[]): Promise<string> {
  const folder = await newFolder();
  const store = filesStore({ folder });
  for (const status of ends) await store.finish(await store.create(everybody, newSession()), stateOf(status));
  await store.close();
  return folder;
}

it("ends with status 1 where a limit is exceeded, and says which", async () => {
  const folder = await storeWith("completed", "failed");
  const text = await windrow(["monitor", "--once", "--store", folder]);
  expect(text.status).toBe(1);
  expect(text.stdout).toMatch(/^\S+ \S+ WARNING Alert: 50 % of the ended sessions failed, more than 10 %\./);
  const json = await windrow(["monitor", "--once", "--json", "--store", folder, "--disk-critical", "0"]);
  expect(json.status).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    alerts: [
      { name: "disk", level: "critical", limit: 0 },
      { name: "failures", level: "warning", value: 0.5, limit: 0.1 },
    ],
  });
  expect((await windrow(["monitor", "--once", "--store", folder, "--failures", "50"])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", folder, "--no-alerts"])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", await storeWith("completed")])).status).toBe(0);
  expect((await windrow(["monitor", "--once", "--store", await emptyStore()])).status).toBe(0);
});

it("tells the webhook that the environment names", async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
    request.on("end", () => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await storeWith("failed");
  const { status } = await windrow(["monitor", "--once", "--store", folder], { WINDROW_MONITOR_WEBHOOK: url });
  expect(status).toBe(1);
  expect(bodies.map((body) => JSON.parse(body) as unknown)).toMatchObject([{ source: "windrow", name: "failures" }]);
});

it("serves metrics while it runs, and lets go of the port", { timeout: 20_000 }, async () => {
  const folder = await storeWith("completed", "completed", "failed");
  const stop = new AbortController();
  let url = "";
  let found: Promise<string> | undefined;
  const status = await run(
    ["monitor", "--store", folder, "--metrics", "0", "--json"],
    {
      // After the first scan its figures are taken, then its event is written.
      stdout: {
        write(line: string) {
          if (line.includes("alert-raised")) {
            found = new Promise((resolve) => setImmediate(resolve))
              .then(() => fetch(url))
              .then((response) => response.text())
              .finally(() => stop.abort());
          }
        },
      },
      stderr: { write: (text) => (url = /http:\S+/.exec(text)?.[0] ?? url) },
      env: {},
    },
    stop.signal,
  );
  const text = (await found) ?? "";
  expect(status).toBe(0);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(text).toContain('windrow_sessions{status="completed"} 2');
  expect(text).toContain('windrow_alert{name="failures",level="warning"} 1');
  expect(text).toContain('windrow_alert{name="disk",level="critical"} 0');
  expect(text).toMatch(/windrow_sessions_failed_ratio 0\.333/);
  expect(text).toMatch(/windrow_disk_bytes\{folder="completed"\} [1-9]\d+/);
  expect(text).toMatch(/# TYPE windrow_monitor_ended_total counter/);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
