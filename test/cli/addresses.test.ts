/** Of an address with secrets in it, nothing that a command writes names more than the host. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { answered, asked } from "../kit/sessions.ts";
import { newFolder, put, windrow } from "./stage.ts";

/** Redirects every request to itself; one that was followed would be answered. */
const server = createServer((request, response) => {
  const followed = request.url === "/followed";
  response.writeHead(followed ? 200 : 307, followed ? {} : { location: "/followed" }).end("{}");
});
let host = "";
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function failedStore(): Promise<string> {
  const folder = await newFolder();
  const manager = await SessionManager.open({ store: folder, budget: 8_000 });
  const session = await manager.create();
  await session.append("Go.");
  await session.finish("failed", "no");
  await manager.close();
  return folder;
}

function secret(scheme: string, place: string): string {
  return `${scheme}://S3cretUser:S3cretWord@${place}/S3cretPath?token=S3cretToken`;
}

it("not of a server of users' settings", async () => {
  const store = await failedStore();
  const config = async (url: string): Promise<string> =>
    put(await newFolder(), "windrow.config.json", JSON.stringify({ user: "ann", userConfig: { url } }));
  for (const url of [secret("http", host), secret("http", "127.0.0.1:9"), secret("ftp", host)]) {
    const file = await config(url);
    for (const argv of [["config"], ["config", "--json"], ["stats", "--store", store], ["view", "latest"]]) {
      const { stdout, stderr } = await windrow([...argv, "--config", file]);
      expect(stdout + stderr, argv.join(" ")).not.toContain("S3cret");
      const named = await windrow([...argv], { USER_CONFIG_API: url, WINDROW_USER: "ann" });
      expect(named.stdout + named.stderr, argv.join(" ")).not.toContain("S3cret");
    }
  }
  const { stdout } = await windrow(["config", "--config", await config(secret("http", host))]);
  expect(stdout).toContain(`http://${host}/…`);
  expect(stdout).toContain(`${host}: status 307, a redirect, which is not followed`);
});

it("not of a store or a model that cannot be had", async () => {
  const database = secret("postgres", "db");
  for (const argv of [["view", "latest"], ["stats"], ["doctor"], ["search", "x"], ["top", "--once"], ["cleanup"]]) {
    const { status, stdout, stderr } = await windrow([...argv, "--store", database]);
    expect(status, argv[0]).not.toBe(0);
    expect(stdout + stderr, argv[0]).not.toContain("S3cret");
  }
  const store = await newFolder();
  const manager = await SessionManager.open({ store, budget: 8_000 });
  const session = await manager.create();
  for (let turn = 0; turn < 6; turn += 1) {
    await session.append([asked(`Question ${turn}?`), answered(`Answer ${turn}.`)]);
  }
  await manager.close();
  for (const address of [secret("http", host), secret("ftp", host)]) {
    const argv = ["compact", "latest", "--model", `openai:x@${address}`, "--store", store];
    const { status, stdout, stderr } = await windrow(argv);
    expect(status).not.toBe(0);
    expect(stdout + stderr).not.toContain("S3cret");
  }
});
