/** A second session of the AI SDK that needs what the first one found. */
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fired } from "../kit/kit.mjs";
import { checkSecondSession } from "../kit/second-session.mjs";
import { version } from "./host.mjs";

test("a second session needs what the first found, in another process", () => {
  checkSecondSession(fileURLToPath(new URL("second-session.mjs", import.meta.url)));
  fired({ host: "AI SDK memory", version, fired: { "sessions that asked for nothing": 1 } });
});
