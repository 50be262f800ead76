import { describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { defaultMask, excerpt } from "../kit/inside/window.ts";

const options = { maxTokens: 120, counter: estimate, mask: defaultMask };

describe("an excerpt of one large result", () => {
  it("values lines as the digest does: names that no kept line shows yet before more of the same", () => {
    const same = Array.from({ length: 80 }, () => "ok: the check of this part has passed as it did before");
    const names = ["see src/window/planner.ts", "takes resolveTarget(view)", "waits for lock_owner_pid 48123"];
    const short = excerpt([...same.slice(40), ...names, ...same.slice(40)].join("\n"), options);
    for (const name of names) expect(short).toContain(name);
    expect(short.split("ok: the check").length - 1).toBeLessThanOrEqual(2);
  });

  it("breaks JSON in one piece into records, and stays under its cap", () => {
    const flights = Array.from({ length: 60 }, (_, n) => ({ flight: `HAT${100 + n}`, seats: { economy: n } }));
    const short = excerpt(JSON.stringify(flights), options);
    expect(short.split("\n")).toContain(" flight HAT100, seats economy 0");
    expect(estimate.count(short)).toBeLessThanOrEqual(options.maxTokens);
  });

  it("keeps what is looked back for, marks every gap, and stays under its cap", () => {
    const log = Array.from({ length: 3_000 }, (_, line) => `row ${line} of the log, all is well`);
    const fatal = "FATAL: cannot open /var/lib/queue/17.db";
    log[1_777] = fatal;
    const short = excerpt(log.join("\n"), options);
    expect(short).toContain(fatal);
    const marked = [...short.matchAll(/\[… (\d+) lines? …\]/g)].reduce((sum, match) => sum + Number(match[1]), 0);
    const shown = short.split("\n").filter((line) => !line.startsWith("[…")).length;
    expect(marked + shown).toBe(log.length);
    expect(estimate.count(short)).toBeLessThanOrEqual(options.maxTokens);
  });

  it("is cut inside no character, and is empty where not even a line fits", () => {
    expect(excerpt("😀".repeat(50_000), options).isWellFormed()).toBe(true);
    expect(excerpt("word ".repeat(500), { ...options, maxTokens: 5 })).toBe("");
  });
});
