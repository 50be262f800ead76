/** The demo's session, lived in a store that stays for all tests of a file, and served. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { liveSession, transcriptOf } from "../../kit/live-session.ts";
import { served } from "./page.ts";

/** A served session. */
export interface ServedSession {
  readonly id: string;
  /** The link that opens a route of the page. */
  link(route: string): string;
  close(): Promise<void>;
}

/** Serves the demo's session, lived with a budget that gives it many epochs. */
export async function servedDemo(): Promise<ServedSession> {
  const transcript = await transcriptOf("fixtures/demo-session.jsonl");
  const folder = await mkdtemp(join(tmpdir(), "windrow-viewer-"));
  const options = { strategy: "adaptive", budget: 8_000 };
  const { id } = await liveSession(folder, transcript?.messages ?? [], options, { title: "the demo" });
  const store = await openStore(folder);
  const server = await served(storedSource(store, {}));
  return {
    id,
    link: (route) => server.link(route),
    async close() {
      await server.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
