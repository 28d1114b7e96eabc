import assert from "node:assert/strict";
import { Writable } from "node:stream";
import type { Command } from "commander";
import type { Terminal } from "../../src/cli/render/terminal.ts";
import { WarehouseError } from "../../src/common/errors.ts";

/** What a command writes; with `columns`, as to a screen of that width. */
export async function capture(
  make: (terminal: Terminal) => Command,
  args: readonly string[],
  columns?: number,
): Promise<string> {
  const { text, thrown } = await run(make, args, columns);
  if (thrown !== undefined) throw thrown;
  return text;
}

/** What a command writes, and what it ends with; undefined: well. */
export async function outcome(
  make: (terminal: Terminal) => Command,
  args: readonly string[],
): Promise<{ text: string; error: WarehouseError | undefined }> {
  const { text, thrown } = await run(make, args, undefined);
  assert.ok(thrown === undefined || thrown instanceof WarehouseError, String(thrown));
  return { text, error: thrown };
}

async function run(
  make: (terminal: Terminal) => Command,
  args: readonly string[],
  columns: number | undefined,
): Promise<{ text: string; thrown: unknown }> {
  let text = "";
  const out = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const command = make({ out, columns });
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
