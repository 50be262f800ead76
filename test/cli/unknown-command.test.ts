/** A mistyped command is named, with the nearest right one and where all are listed. */
import { expect, it } from "vitest";
import { windrow } from "./stage.ts";

it.each([
  ["statz", "unknown command 'statz'. Did you mean stats? See windrow --help."],
  ["foo", "unknown command 'foo'. See windrow --help."],
])("windrow %s", async (name, said) => {
  const { status, stdout, stderr } = await windrow([name]);
  expect([status, stdout, stderr]).toEqual([2, "", `windrow: bad-option: ${said}\n`]);
});

it.each(["statz", "foo"])("windrow help %s is refused as the command is", async (name) => {
  expect(await windrow(["help", name])).toEqual(await windrow([name]));
});

it.each(["stats", "completion", "help"])("windrow help %s is help", async (name) => {
  const { status, stdout } = await windrow(["help", name]);
  expect([status, stdout]).toEqual([0, expect.stringContaining("Usage: windrow")]);
});

it.each([
  [["view"], "missing required argument 'id'. See windrow view --help."],
  [["restore", "latest"], "required option '--from <backup>' not specified. See windrow restore --help."],
])("says where the arguments of %j are told", async (argv, said) => {
  const { status, stderr } = await windrow(argv);
  expect([status, stderr]).toEqual([2, `windrow: bad-option: ${said}\n`]);
});

it("names a mistyped flag with the nearest one", async () => {
  const { status, stderr } = await windrow(["stats", "--form"]);
  expect([status, stderr]).toEqual([2, "windrow: bad-option: unknown option '--form'. Did you mean --from?\n"]);
});

it("says what makes a store where there is none", async () => {
  const { status, stderr } = await windrow(["stats", "--store", "/nowhere/contexts"]);
  const said = "There is no store at /nowhere/contexts. Check the path; an agent makes one with its first session.";
  expect([status, stderr.replaceAll(/\s+/g, " ").trim()]).toEqual([1, `windrow: store-unavailable: ${said}`]);
});
