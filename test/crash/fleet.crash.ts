import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";

/** Conversations, turns of each, and kills: small here; `node examples/fleet/drive.mjs` has the whole. */
const size = (process.env["WINDROW_FLEET"] ?? "20 10 5").split(" ");

beforeAll(() => {
  // The servers import the package as its users do.
  if (existsSync("dist/index.js")) return;
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
  if (status !== 0) throw new Error("The package could not be built: npm run build says why.");
});

it.skipIf(!hasPostgres)(
  "two servers that are killed at random, before one Postgres, lose no turn and add none twice",
  { timeout: 1_800_000 },
  async () => {
    const postgres = await startPostgres();
    const program = fileURLToPath(new URL("../../examples/fleet/drive.mjs", import.meta.url));
    const child = spawn(process.execPath, [program, ...size], {
      env: { ...process.env, STORE: postgres.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    const [status] = (await once(child, "close")) as [number];
    postgres.close();
    console.log(text.trim());
    expect(text).toMatch(/ 0 lost, 0 twice, 0 out of order, 0 without an answer/);
    expect(status).toBe(0);
  },
);
