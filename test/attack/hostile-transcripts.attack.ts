/** Transcripts that somebody made up to break a reader: every line is hostile, in every format, between two good files. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attack } from "./kit/attack.ts";
import type { Product } from "./kit/attack.ts";

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** Values that stand where a line has something harmless. */
const values: Readonly<Record<string, string>> = {
  "deep": deep(50_000),
  "deep objects": `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
  "somewhat deep": deep(2_500),
  "wide": `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":${at}`).join(",")}}`,
  "a lone surrogate": String.raw`"\ud800 and \udfff"`,
  "__proto__": '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  "NUL": String.raw`"\u0000\u0000"`,
  "a huge number": "1e999",
  "a long number": "9".repeat(400),
  "a negative number": "-1e308",
  "null": "null",
  "a list": "[[],{},null,1]",
  "text in a text": JSON.stringify(JSON.stringify(JSON.parse(deep(400)))),
  "deep text in a text": JSON.stringify(deep(50_000)),
};

/** A session of each format, a line each; `@` is where the hostile value goes. */
const formats: Readonly<Record<string, readonly string[]>> = {
  "openai-chat": [
    '{"role":"user","content":"Hello"}',
    '{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":@}}]}',
    '{"role":"tool","tool_call_id":"c1","content":@}',
    '{"role":"assistant","content":"Done","extra":@,"timestamp":@}',
  ],
  "claude-code": [
    '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Hello"}}',
    '{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","timestamp":@,"message":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"look","input":@}]}}',
    '{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","toolUseResult":@,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":@}]}}',
    '{"type":"assistant","uuid":"u2","parentUuid":@,"sessionId":"s","message":{"role":"assistant","content":@,"usage":@}}',
  ],
  "codex": [
    '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"5f0f3a52-4a0f-4f0e-9b3c-1c2d3e4f5a6b","cwd":"/x"}}',
    '{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}',
    '{"timestamp":@,"type":"response_item","payload":{"type":"function_call","name":"look","call_id":"c1","arguments":@}}',
    '{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":@}}',
    '{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":@}',
  ],
  "pi": [
    '{"type":"session","version":3,"id":"6f0f3a52-4a0f-4f0e-9b3c-1c2d3e4f5a6b","timestamp":"2026-01-01T00:00:00Z","cwd":"/x"}',
    '{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"Hello","timestamp":1}}',
    '{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"look","arguments":@}],"usage":@,"timestamp":2}}',
    '{"type":"message","id":"c","parentId":"b","timestamp":@,"message":{"role":"toolResult","toolCallId":"c1","toolName":"look","content":@,"details":@,"timestamp":@}}',
  ],
  "gemini-cli": [
    '{"sessionId":"7f0f3a52-4a0f-4f0e-9b3c-1c2d3e4f5a6b","projectHash":"p","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:09Z","messages":[{"id":"1","timestamp":"2026-01-01T00:00:01Z","type":"user","content":"Hello"},{"id":"2","timestamp":"2026-01-01T00:00:02Z","type":"gemini","content":@,"toolCalls":[{"id":"c1","name":"look","args":@,"result":@,"status":"success","timestamp":@}]}]}',
  ],
  "anthropic": [
    '{"role":"user","content":"Hello","ts":@}',
    '{"role":"assistant","content":[{"type":"thinking","thinking":@,"signature":@},{"type":"tool_use","id":"c1","name":"look","input":@}],"ts":1,"modelInfo":@,"metrics":@}',
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":@,"is_error":@}],"ts":2}',
  ],
  "qwen-code": [
    '{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"Hello"}]}}',
    '{"uuid":"u2","parentUuid":@,"sessionId":@,"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"look","args":@}},@]},"model":@,"usageMetadata":@}',
    '{"uuid":"u3","parentUuid":"u2","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","name":"look","response":@}}]},"toolCallResult":@}',
    '{"uuid":"u4","parentUuid":"u3","type":"system","subtype":"chat_compression","systemPayload":@}',
  ],
  "copilot-cli": [
    '{"type":"session.start","data":{"sessionId":@,"copilotVersion":@,"selectedModel":@,"context":@},"id":"e1","parentId":null}',
    '{"type":"user.message","data":{"content":"Hello"},"id":"e0","parentId":null}',
    '{"type":"user.message","data":{"content":@,"transformedContent":@,"attachments":[@,{"type":"blob","data":@,"mimeType":@}],"source":@},"id":"e2","timestamp":@,"parentId":"e1"}',
    '{"type":"assistant.message","data":{"content":@,"reasoningText":@,"reasoningOpaque":@,"toolRequests":[{"toolCallId":"c1","name":"look","arguments":@},{"toolCallId":@,"name":"task","arguments":{"prompt":@}},@],"model":@},"id":"e3","parentId":@}',
    '{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":@,"result":{"content":@,"binaryResultsForLlm":[@]},"error":@},"id":@,"agentId":@,"parentId":"e3"}',
    '{"type":"session.compaction_complete","data":{"success":true,"summaryContent":@},"id":"e5","parentId":"e4"}',
    '{"type":"session.shutdown","data":{"modelMetrics":@},"id":"e6","parentId":"e5"}',
    '{"type":"user.message","data":@,"id":"e7","parentId":"e6"}',
  ],
  "opencode": [
    '{"info":{"id":"ses_1","directory":"/x","title":@,"revert":@},"messages":[{"info":{"id":"msg_1","role":"user","time":{"created":@},"summary":@},"parts":[{"type":"text","text":"Hello"},{"type":"file","mime":@,"url":@}]},{"info":{"id":"msg_2","role":"assistant","modelID":"m","tokens":@,"time":@,"error":@,"path":@},"parts":[{"type":"reasoning","text":@,"metadata":@},{"type":"tool","callID":"c1","tool":"look","state":{"status":"completed","input":@,"output":@,"attachments":@,"time":@},"metadata":@},{"type":"tool","callID":"c2","tool":"look","state":@},{"type":"step-finish","tokens":@},{"type":"odd","data":@},@]},@]}',
  ],
  "windrow": [
    '{"seq":1,"id":"m1","role":"user","content":"Hello","timestamp":"2026-01-01T00:00:00.000Z","token_count":1,"pos":1}',
    '{"seq":2,"id":"m2","role":"assistant","parts":[{"type":"tool-call","call_id":"c1","name":"look","args":@}],"timestamp":"2026-01-01T00:00:01.000Z","token_count":1,"pos":2}',
    '{"seq":@,"id":@,"role":"tool","content":@,"extra":@,"pos":3}',
  ],
  "trajectory": [
    '{"id":"x","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Looking","thinking":@,"tool_calls":[{"id":"c1","name":"look","args":@}]},{"role":"tool","tool_call_id":"c1","content":@}],"meta":@}',
  ],
};

interface Outcome {
  readonly status: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function command(product: Product, given: readonly string[]): Promise<Outcome> {
  return new Promise((done) => {
    const options = { maxBuffer: 2 ** 28, timeout: 100_000, cwd: product.scratch };
    execFile(process.execPath, [product.command, ...given], options, (error, stdout, stderr) => {
      done({ status: error ? (error.code ?? error.signal ?? "?") : 0, stdout, stderr });
    });
  });
}

attack({
  name: "hostile transcripts",
  seeds: [
    {
      name: "JSON of any depth is walked",
      changes: [
        { file: "message/json.ts", from: "if (levels <= 0) return", to: "if (levels <= -1e9) return" },
        { file: "message/json.ts", from: "reading it fails (${", to: "${((e) => { throw e; })(error)} (${" },
        {
          file: "cli/commands/import.ts",
          from: 'if (!isWindrowError(error)) return false;\n  return error.code === "aborted"',
          to: 'if (!isWindrowError(error)) return true;\n  return error.code === "aborted"',
        },
      ],
    },
    {
      name: "a folder among the files ends an import",
      changes: [{ file: "cli/commands/import.ts", from: ' && error.data["path"] === undefined', to: "" }],
    },
  ],
  async run(product, report) {
    const folder = join(product.scratch, "files");
    await mkdir(join(folder, "folder.jsonl"), { recursive: true });
    const good = async (name: string): Promise<string> => {
      const path = join(folder, name);
      const lines = ["One", "Two"].map((content, at) =>
        JSON.stringify({ role: at ? "assistant" : "user", content: `${name} ${content}` }),
      );
      await writeFile(path, lines.join("\n"));
      return path;
    };
    const [first, last] = [await good("first.jsonl"), await good("last.jsonl")];
    const hostile: string[] = [join(folder, "folder.jsonl"), join(folder, "missing.jsonl")];
    for (const [format, lines] of Object.entries(formats)) {
      for (const [name, value] of Object.entries(values)) {
        const path = join(folder, `${format} ${name.replaceAll("_", "")}.jsonl`);
        const text = lines.map((line) => line.replaceAll("@", () => value)).join("\n");
        await writeFile(path, text);
        hostile.push(path);
        if (name !== "somewhat deep") continue;
        const torn = join(folder, `${format} torn.jsonl`);
        await writeFile(torn, text.slice(0, Math.floor(text.length * 0.7)));
        const twice = join(folder, `${format} twice.jsonl`);
        await writeFile(twice, [...lines, ...lines].map((line) => line.replaceAll("@", "{}")).join("\n"));
        hostile.push(torn, twice);
      }
      await writeFile(join(folder, `${format} bare.jsonl`), `${deep(100_000)}\n`);
      hostile.push(join(folder, `${format} bare.jsonl`));
    }

    const checked = (what: string, { status, stdout, stderr }: Outcome): void => {
      if (status !== 0 && status !== 1) report.failed(`${what} ended with ${status}: ${stderr.slice(-300)}`);
      const said = `${stdout}${stderr}`;
      if (/RangeError|TypeError|Maximum call stack|unforeseen|\n\s+at .*:\d+:\d+/.test(said)) {
        const at = said.search(/RangeError|TypeError|Maximum call stack|unforeseen|\n\s+at /);
        report.failed(`${what} shows a fault of its own: ${said.slice(Math.max(0, at - 200), at + 300)}`);
      }
    };

    const store = join(product.scratch, "store");
    const imported = await command(product, ["import", first, ...hostile, last, "--store", store, "--json"]);
    checked("import", imported);
    const { sessions = [], failed = [] } = read<{
      sessions?: readonly { readonly file: string; readonly outcome: string }[];
      failed?: readonly { readonly file: string }[];
    }>(imported.stdout);
    for (const path of [first, last]) {
      if (!sessions.some(({ file, outcome }) => file === path && outcome === "imported"))
        report.failed(`import: ${path} stands beside bad files and was not imported: ${imported.stderr.slice(-300)}`);
    }
    const told = new Set([...sessions, ...failed].map(({ file }) => file));
    for (const path of hostile) if (!told.has(path)) report.failed(`import tells nothing of ${path}`);
    if (imported.status !== 1) report.failed(`import with bad files ended with ${imported.status}, not 1`);

    const flags = ["--json", "-s", "adaptive", "-b", "8k"];
    const replayed = await command(product, ["replay", first, ...hostile, last, ...flags]);
    checked("replay", replayed);
    const replays = read<{ sessions?: readonly { readonly file: string }[] }>(replayed.stdout).sessions ?? [];
    for (const path of [first, last])
      if (!replays.some(({ file }) => file === path)) report.failed(`replay left out ${path}`);

    for (const path of hostile.filter((_, at) => at % 24 === 2))
      checked(`compose ${path}`, await command(product, ["compose", path]));
    for (const given of [
      ["doctor", "--store", store],
      ["scan", "--store", store],
      ["search", "Hello", "--store", store],
    ])
      checked(given.join(" "), await command(product, given));
    if (({} as { polluted?: unknown }).polluted !== undefined) report.failed("a prototype was changed");
  },
});

function read<T>(text: string): Partial<T> {
  try {
    return JSON.parse(text) as T;
  } catch {
    return {};
  }
}
