/** The sessions that the examples of seed 001 §9.1 and §9.2 speak of. */
import type { Store } from "windrow";
import type { SessionInfo } from "windrow/store";
import { everybody, filesStore, messageRecord, newSession, stateOf } from "../kit/inside/store.ts";

export const seedId = "550e8400-e29b-41d4-a716-446655440000";

const start = "2024-01-15T10:30:00.000Z";

/** The finished session of §9.1, in a store of files. */
export async function seedSession(folder: string): Promise<void> {
  const store = filesStore({ folder });
  const taskKey = { task_source: "github", owner: "notfolder", repo: "coding_agent", task_type: "issue", task_id: 27 };
  const lock = await store.create(everybody, newSession({ uuid: seedId, taskKey, createdAt: start }));
  const call = { type: "tool-call", callId: "c", name: "github_create_commit", args: { message: "Fix" } } as const;
  const result = { type: "tool-result", callId: "c", name: "github_create_commit", content: "ok" } as const;
  const messages = Array.from({ length: 146 }, (_, index) => messageRecord(`message ${index + 1}`));
  messages.push(
    messageRecord("commit", { role: "assistant", parts: [call] }),
    messageRecord("Commit the changes"),
    messageRecord("result", { role: "tool", parts: [result] }),
    messageRecord('{"done": true, "comment": "Completed"}', { role: "assistant" }),
  );
  await store.append(lock, messages);
  const summary = { kind: "summary", originalTokens: 12_000, summaryTokens: 800, timestamp: start } as const;
  await store.append(lock, [
    { ...summary, startSeq: 10, endSeq: 50, summary: "Fixed authentication bug..." },
    { ...summary, startSeq: 51, endSeq: 90, summary: "Implemented new feature..." },
  ]);
  await store.finish(lock, {
    ...stateOf("completed"),
    startedAt: start,
    completedAt: "2024-01-15T10:45:23.000Z",
    llmCallCount: 45,
    toolCallCount: 12,
    totalTokensUsed: 45_678,
    compressionCount: 2,
  });
  await store.close();
}

const users = [
  ["notfolder", 890],
  ["user2", 244],
  ["user3", 100],
] as const;

/** The 1,234 sessions of §9.2: what a store would say of them, without their logs. */
export function seedStore(): Store {
  const owners = users.flatMap(([user, sessions]) => Array.from({ length: sessions }, () => user));
  const infos = owners.map((user, index) => infoOf(user, index));
  const store: Pick<Store, "name" | "capabilities" | "recovery" | "info" | "list" | "read" | "holding" | "upkeep"> = {
    name: "seed",
    capabilities: { durable: true, shared: true },
    recovery: async () => [],
    async info(_scope, id) {
      return infos.find(({ metadata }) => metadata.uuid === id)!;
    },
    async *list({ user }) {
      for (const info of infos) if (user === undefined || info.metadata.user === user) yield info;
    },
    async *read(_scope, _id, { kind }) {
      if (kind === "message") yield { ...messageRecord("the newest"), seq: 85, pos: 85 } as never;
    },
    holding: { holder: async () => ({ state: "held" }) } as unknown as Store["holding"],
    upkeep: {
      async size(_scope: unknown, id: string) {
        const running = Number(id.slice(0, 8)) < 12;
        const plainBytes = running ? 10_000_000 : Math.round(5.4e9 / 1_222);
        return { bytes: running ? plainBytes : Math.round(2.1e9 / 1_222), plainBytes, compressed: !running };
      },
    } as unknown as Store["upkeep"],
  };
  return store as Store;
}

function infoOf(user: string, index: number): SessionInfo {
  const uuid = `${`${index}`.padStart(8, "0")}-0000-4000-8000-000000000000`;
  const status = index < 12 ? "processing" : "completed";
  const startedAt = `2024-01-${`${1 + (index % 15)}`.padStart(2, "0")}T10:00:00.000Z`;
  const completedAt = status === "completed" ? startedAt.replace("T10:00:00", "T10:12:30") : null;
  // 1.8 on average: four of five twice, one of five once.
  const compressionCount = index % 5 === 0 ? 1 : 2;
  return {
    metadata: { ...newSession({ uuid, createdAt: startedAt }), user, processId: 1, hostname: "h", format: 1 },
    state: { ...stateOf(status), startedAt, completedAt, totalTokensUsed: 42_000, compressionCount },
    location: "seed:",
    readOnly: completedAt !== null,
  };
}
