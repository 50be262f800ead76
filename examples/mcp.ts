/** A client of `windrow mcp`, offline: a session is written, then found and brought back as an MCP host would. */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { SessionManager } from "windrow";

const store = process.argv[2] ?? "./contexts";
const manager = await SessionManager.open({ store, budget: 8_000 });
const session = await manager.create({ taskKey: { task: "Release" } });
await session.append({ role: "user", parts: [{ type: "text", text: "Release 2.1 from the branch release-2.1." }] });
await session.append({ role: "assistant", parts: [{ type: "text", text: "Tagged v2.1.0 on commit 4f2a9c1." }] });
await session.close();

// What an MCP host starts for you when `windrow mcp --store ./contexts` stands in its configuration.
const command = fileURLToPath(new URL("cli.js", import.meta.resolve("windrow")));
const args = [command, "mcp", "--store", store];
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: process.execPath, args }));

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join(", "));
for (const [name, given] of [
  ["windrow_search", { query: "commit" }],
  ["recall", { id: "m1" }],
  ["windrow_pin", { text: "Never release on a Friday" }],
  ["windrow_pins", {}],
] as const) {
  const { content } = await client.callTool({ name, arguments: given });
  console.log(`${name}: ${content.map((block) => ("text" in block ? block.text : block.type)).join("\n")}`);
}
await client.close();
await manager.close();
