/** The sums of an attack run: attacks count, and one line is printed when all have ended. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProduct, removeBuilds } from "./product.ts";

const variable = "WINDROW_ATTACK_TOTALS";

/** Adds to a sum. */
export function count(what: string, amount = 1): void {
  const path = process.env[variable];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify([what, amount])}\n`);
}

/** Compiles the product before all attacks, and prints the sums after them. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "windrow-totals-"));
  const path = join(folder, "totals");
  process.env[variable] = path;
  appendFileSync(path, "");
  await buildProduct();
  return async () => {
    const sums = new Map<string, number>();
    for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
      const [what, amount] = JSON.parse(line) as [string, number];
      sums.set(what, (sums.get(what) ?? 0) + amount);
    }
    const [caught = 0, seeded = 0] = [sums.get("seeded bugs caught"), sums.get("seeded bugs")];
    sums.delete("seeded bugs caught");
    sums.delete("seeded bugs");
    const parts = [...sums].toSorted(([left], [right]) => left.localeCompare(right));
    console.log(
      `attack: ${parts.map(([what, amount]) => `${amount} ${what}`).join(", ")}; ${caught} of ${seeded} seeded bugs caught`,
    );
    rmSync(folder, { recursive: true });
    await removeBuilds();
  };
}
