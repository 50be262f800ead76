/** Type-checked, never run: a server of one's own takes the tools of windrow/mcp. */
import { InMemoryTransport } from "@modelcontextprotocol/client";
import { McpTools, mcpServer, serveMcpHttp } from "windrow/mcp";
import { openStore } from "windrow/store";

const tools = await McpTools.open({ store: await openStore("./contexts"), user: "ann", readOnly: true });
const [, side] = InMemoryTransport.createLinkedPair();
await mcpServer(tools).connect(side);
const { url, close } = await serveMcpHttp(tools, { port: 7433, token: "a long one" });
console.log(url, close);
