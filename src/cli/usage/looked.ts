/** Lines under the help of `windrow` alone: where sessions were looked for, since none are there. */
import { printable } from "../../printable.ts";
import { usageFolders } from "../../transcript/discover.ts";
import type { CliIo } from "../io.ts";
import { homeOf } from "../agent-usage.ts";
import { usualStore } from "./usage.ts";
import { agentNames, shortPath } from "./view.ts";

/** The places, a line for each agent, and what to do next. */
export function lookedFor({ env }: Pick<CliIo, "env">): string {
  const home = homeOf(env);
  const places = [...usageFolders({ home, env }), { agent: "windrow" as const, path: usualStore }];
  const agents = [...new Set(places.map(({ agent }) => agent))];
  const lines = agents.map((agent) => {
    const own = places.filter((place) => place.agent === agent).map(({ path }) => printable(shortPath(path, home)));
    return `  ${(agentNames[agent] ?? agent).padEnd(longestLabel)}  ${own.join(`\n${" ".repeat(longestLabel + 4)}`)}\n`;
  });
  return (
    "Where there are sessions, windrow alone shows what they used. It looked here,\nand found none:\n" +
    `${lines.join("")}\n` +
    "Next: windrow init writes an agent into this folder; windrow replay FILE shows\nwhat a managed window would have saved in a recorded session.\n"
  );
}

const longestLabel = Math.max(...Object.values(agentNames).map((label) => label.length));
