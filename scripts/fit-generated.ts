/** Text that agents see and no folder holds: rows, hashes, logs, UI trees, traces; generated from a fixed seed. */
import { createHash } from "node:crypto";

type Generated = readonly [kind: string, source: string, text: string];

/** A small seeded generator (mulberry32): numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const names = "Alice Bob Chen Dmitri Emma Farid Grace Hiro Ines Jonas Kim Lena Marco Nadia Omar Priya".split(" ");
const nouns = "order invoice session user worker cache index request token upload payment report".split(" ");
const verbs = "created updated failed started retried closed expired flushed accepted rejected".split(" ");
const roles = "AXButton AXGroup AXStaticText AXTextField AXImage AXLink AXCell AXRow AXMenuItem AXWindow".split(" ");
const emoji = "😀 😂 🥰 👍 🎉 🚀 🔥 ✨ 🙏 💡 ✅ ❌ ⚠️ 📦 🧪 🐛 ❤️ 👩‍💻 🏳️‍🌈 🇯🇵 🇩🇪 👍🏽 🤖 🌍 📈 🕒".split(" ");

/** Writers of the lines of a kind. `random` gives numbers in [0, 1). */
const writers: Readonly<Record<string, (random: () => number) => string>> = {
  "json rows": (random) =>
    JSON.stringify({
      id: uuid(random),
      created_at: date(random).toISOString(),
      user: one(names, random),
      email: `${one(names, random).toLowerCase()}.${one(nouns, random)}@example.com`,
      amount: Math.round(random() * 1e6) / 100,
      status: one(verbs, random),
      active: random() < 0.5,
      parent: random() < 0.3 ? null : uuid(random),
    }) + "\n",
  "json indented": (random) =>
    JSON.stringify(
      {
        type: one(nouns, random),
        count: Math.floor(random() * 5e3),
        tags: [one(verbs, random), one(nouns, random)],
        owner: { name: one(names, random), score: random() },
      },
      null,
      2,
    ) + ",\n",
  "tool calls": (random) =>
    `{"role": "assistant", "tool_calls": [{"id": "call_${digest("md5", random).slice(0, 24)}", "function": {"name": "${one(verbs, random)}_${one(nouns, random)}", "arguments": ${JSON.stringify(`{"${one(nouns, random)}_id": "${one(names, random).toUpperCase()}${pick(random, 999)}", "${one(nouns, random)}s": [{"price": ${pick(random, 300)}, "status": "${one(verbs, random)}", "date": "${date(random).toISOString().slice(0, 10)}"}]}`)}}}]}\n`,
  "uuid list": (random) => uuid(random) + "\n",
  "sha256 list": (random) =>
    `${digest("sha256", random)}  ${one(nouns, random)}/${one(verbs, random)}-${pick(random, 99)}.ts\n`,
  "git log": (random) =>
    `${digest("sha1", random).slice(0, random() < 0.5 ? 7 : 40)} ${one(names, random)} ${one(verbs, random)} ${one(nouns, random)} (#${pick(random, 4000)})\n`,
  "base64": (random) => Buffer.from(bytes(random, 57)).toString("base64") + "\n",
  "base64 unbroken": (random) => Buffer.from(bytes(random, 600)).toString("base64"),
  "base64 of text": (random) =>
    Buffer.from(
      `${one(names, random)} ${one(verbs, random)} the ${one(nouns, random)} at ${date(random).toISOString()}`,
    ).toString("base64") + "\n",
  "hex dump": (random) =>
    `${pick(random, 1 << 24)
      .toString(16)
      .padStart(8, "0")}: ${Buffer.from(bytes(random, 16)).toString("hex").match(/.{4}/g)?.join(" ")}\n`,
  "logs generated": (random) =>
    `${date(random).toISOString()} ${one(["INFO", "WARN", "ERROR", "DEBUG"], random)} [${one(nouns, random)}-${pick(random, 32)}] ${one(nouns, random)} ${one(verbs, random)} in ${pick(random, 3000)}ms ip=10.${pick(random, 255)}.${pick(random, 255)}.${pick(random, 255)} trace=${digest("md5", random)}\n`,
  "access log": (random) =>
    `192.168.${pick(random, 255)}.${pick(random, 255)} - - [${pick(random, 28) + 1}/Nov/2025:${pick(random, 23)}:${pick(random, 59)}:${pick(random, 59)} +0000] "GET /api/${one(nouns, random)}s/${pick(random, 9999)}?page=${pick(random, 20)} HTTP/1.1" ${one(["200", "404", "500", "302"], random)} ${pick(random, 90_000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"\n`,
  "ui tree": (random) =>
    `${"  ".repeat(pick(random, 9))}{"role":"${one(roles, random)}","title":"${one(verbs, random)} ${one(nouns, random)}","frame":{"x":${pick(random, 1900)},"y":${pick(random, 1000)},"w":${pick(random, 400)},"h":${pick(random, 90)}},"enabled":true,"children":[\n`,
  "ui lines": (random) =>
    `${"\t".repeat(pick(random, 7))}[${pick(random, 900)}] ${one(roles, random)} "${one(names, random)} ${one(nouns, random)}" (${pick(random, 1900)}, ${pick(random, 1000)})\n`,
  "csv": (random) =>
    `${pick(random, 1e6)},${one(names, random)},${date(random).toISOString().slice(0, 10)},${(random() * 1e4).toFixed(2)},${(random() * 100).toFixed(6)},${one(nouns, random)}\n`,
  "numbers": (random) => Array.from({ length: 8 }, () => (random() * 2 - 1).toFixed(8)).join(", ") + ",\n",
  "whitespace-heavy": (random) =>
    `${" ".repeat(pick(random, 48))}${one(nouns, random)}${" ".repeat(pick(random, 30))}${pick(random, 9999)}${"\n".repeat(1 + pick(random, 3))}`,
  "tables": (random) =>
    `| ${one(nouns, random).padEnd(20)} | ${one(verbs, random).padEnd(16)} | ${String(pick(random, 99_999)).padStart(12)} |\n${random() < 0.2 ? `|${"-".repeat(22)}|${"-".repeat(18)}|${"-".repeat(14)}|\n` : ""}`,
  "rules and boxes": (random) =>
    `${one(["=", "-", "#", "*", "─", "═", "~"], random).repeat(20 + pick(random, 60))}\n│ ${one(nouns, random)} → ${one(verbs, random)} │\n`,
  "box drawings": (random) =>
    `│ ${one(nouns, random).padEnd(12)} │ ${pick(random, 999)} │\n├${"─".repeat(2 + pick(random, 14))}┼${"─".repeat(2 + pick(random, 5))}┤\n${one(["├── ", "└── ", "│   ├── ", "▪ ", "█▉▊ "], random)}${one(verbs, random)}.ts\n`,
  "terminal colours": (random) =>
    `\u001b[${30 + pick(random, 8)}m${one(verbs, random)}\u001b[0m \u001b[1m${one(nouns, random)}\u001b[22m\u001b[39m ${pick(random, 900)}${random() < 0.1 ? "\0".repeat(1 + pick(random, 9)) : ""}\r\n`,
  "long runs": (random) =>
    `${one([" ", " ", "=", "-", "#", ".", "\t", "\n", "─", "a", "x"], random).repeat(60 + pick(random, 900))} ${one(nouns, random)}\n`,
  "emoji": (random) =>
    Array.from({ length: 3 + pick(random, 20) }, () => one(emoji, random)).join(random() < 0.5 ? "" : " ") + "\n",
  "chat with emoji": (random) =>
    `${one(names, random)}: the ${one(nouns, random)} was ${one(verbs, random)} ${one(emoji, random)}${random() < 0.4 ? one(emoji, random) : ""} please look\n`,
  "stack traces": (random) =>
    `    at ${one(names, random)}.${one(verbs, random)}${random() < 0.5 ? "Async" : ""} (/home/app/node_modules/${one(nouns, random)}/dist/${one(verbs, random)}.js:${pick(random, 900)}:${pick(random, 80)})\n`,
  "sql": (random) =>
    `INSERT INTO ${one(nouns, random)}s (id, name, state) VALUES (${pick(random, 1e6)}, '${one(names, random)}', '${one(verbs, random).toUpperCase()}');\n`,
  "random letters": (random) => letters(random, 3 + pick(random, 60)) + "\n",
  "urls": (random) =>
    `https://www.example.com/${one(nouns, random)}/${digest("md5", random).slice(0, 12)}?utm_source=${one(nouns, random)}&id=${uuid(random)}\n`,
};

/** Every generated kind, in a dozen sources each. */
export function generatedKinds(): readonly Generated[] {
  const texts: Generated[] = [];
  for (const [kind, write] of Object.entries(writers)) {
    for (let part = 0; part < 12; part++) {
      const random = seeded(part * 1_000 + kind.length);
      let text = "";
      while (text.length < 12_000) text += write(random);
      texts.push([kind, `${kind} #${part}`, text]);
    }
  }
  return texts;
}

function one<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

function pick(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

function bytes(random: () => number, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => pick(random, 256));
}

function letters(random: () => number, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(97 + pick(random, 26))).join("");
}

function digest(algorithm: string, random: () => number): string {
  return createHash(algorithm).update(bytes(random, 16)).digest("hex");
}

function date(random: () => number): Date {
  return new Date(1_700_000_000_000 + pick(random, 60_000_000) * 1_000);
}

function uuid(random: () => number): string {
  const hex = digest("md5", random);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
