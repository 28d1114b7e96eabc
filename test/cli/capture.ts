import assert from "node:assert/strict";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { type CliEnvironment, processEnvironment } from "../../src/cli/command.ts";
import { WarehouseError } from "../../src/common/errors.ts";

type Make = (environment: CliEnvironment) => Command;

/** What a command writes; with `columns`, as to a screen of that width. */
export async function capture(
  make: Make,
  args: readonly string[],
  columns?: number,
  given: Partial<CliEnvironment> = {},
): Promise<string> {
  const { text, thrown } = await run(make, args, columns, given);
  if (thrown !== undefined) throw thrown;
  return text;
}

/** What a command writes, and what it ends with; undefined: well. */
export async function outcome(
  make: Make,
  args: readonly string[],
  given: Partial<CliEnvironment> = {},
): Promise<{ text: string; error: WarehouseError | undefined }> {
  const { text, thrown } = await run(make, args, undefined, given);
  assert.ok(thrown === undefined || thrown instanceof WarehouseError, String(thrown));
  return { text, error: thrown };
}

async function run(
  make: Make,
  args: readonly string[],
  columns: number | undefined,
  given: Partial<CliEnvironment>,
): Promise<{ text: string; thrown: unknown }> {
  let text = "";
  const writable = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const command = make(processEnvironment({ ...given, out: Object.assign(writable, { columns }) }));
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeErr: () => {} });
  }
  try {
    await command.parseAsync([...args], { from: "user" });
    return { text, thrown: undefined };
  } catch (thrown) {
    return { text, thrown };
  }
}
