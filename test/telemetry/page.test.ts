/** docs/telemetry.md names what is told, and nothing else. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { instrumentsOf } from "../kit/inside/telemetry.ts";
import { sdk } from "./sdk.ts";

const page = readFileSync("docs/telemetry.md", "utf8");
/** Names as the page writes them; `.budget` behind `windrow.window.tokens` has its beginning. */
const written = new Set(
  page.split("\n").flatMap((line) => {
    let begin = "";
    return [
      ...line.matchAll(/`((?:gen_ai|windrow|error)?\.[a-z_.]+)`|`(error\.type|(?:gen_ai|windrow)\.[a-z_.]+)`/g),
    ].map(([, short = "", whole = short]) => {
      const name = whole.startsWith(".") ? begin + whole : whole;
      begin = name.slice(0, name.lastIndexOf("."));
      return name;
    });
  }),
);

it("has every attribute", () => {
  const source = ["observer", "session-spans"].map((name) => readFileSync(`src/telemetry/${name}.ts`, "utf8")).join("");
  const attributes = [...source.matchAll(/"((?:gen_ai|windrow|error)\.[a-z_.]+)"/g)].map(([, name = ""]) => name);
  expect(attributes.length).toBeGreaterThan(40);
  expect(attributes.filter((name) => !written.has(name))).toEqual([]);
});

it("has every metric, with its instrument and unit", async () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const seen = sdk();
  const meter = seen.meterProvider.getMeter("page");
  const made: string[] = [];
  const watched: typeof meter = Object.assign(Object.create(meter) as typeof meter, {
    createHistogram: (...given: Parameters<typeof meter.createHistogram>) => {
      made.push(`${given[0]} histogram ${given[1]?.unit}`);
      return meter.createHistogram(...given);
    },
    createCounter: (...given: Parameters<typeof meter.createCounter>) => {
      made.push(`${given[0]} counter ${given[1]?.unit}`);
      return meter.createCounter(...given);
    },
  });
  instrumentsOf(watched).sessions.add(1);
  expect(await seen.points("windrow.sessions")).toHaveLength(1);
  expect(made.length).toBeGreaterThan(10);
  const untold = made.filter((line) => {
    const [name = "", instrument = "", unit = ""] = line.split(" ");
    return !rows.some((row) => row.includes(`\`${name}\``) && row.includes(`| ${instrument}, \`${unit}\` |`));
  });
  expect(untold).toEqual([]);
});
