/** A contract as cases that any test runner can run. */

/** One case of a contract. `run` throws when the contract is broken. */
export interface ConformanceCase {
  readonly group: string;
  readonly name: string;
  run(): Promise<void>;
}

/** The two functions every test runner has (vitest, `node:test`, mocha). */
export interface CaseRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

/** Hands the cases to a test runner, group by group. */
export function register(cases: readonly ConformanceCase[], runner: CaseRunner): void {
  for (const group of new Set(cases.map((one) => one.group))) {
    runner.describe(group, () => {
      for (const one of cases) if (one.group === group) runner.it(one.name, () => one.run());
    });
  }
}
