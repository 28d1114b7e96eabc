import assert from "node:assert/strict";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { type CliEnvironment, processEnvironment } from "../../src/cli/command.ts";
import { WarehouseError } from "../../src/common/errors.ts";

type Make = (environment: CliEnvironment) => Command;

interface Given extends Partial<CliEnvironment> {
  /** Writes as to a screen of that width. */
  readonly columns?: number;
  /** Whether standard output is a terminal. */
  readonly isTTY?: boolean;
  /** Told what is written to standard output, as it comes. */
  readonly onChunk?: (chunk: string) => void;
}

interface Written {
  /** To standard output. */
  readonly text: string;
  /** To standard error. */
  readonly err: string;
  readonly exitCode: number;
}

/** What a command writes; with `columns`, as to a screen of that width. */
export async function capture(
  make: Make,
  args: readonly string[],
  columns?: number,
  given: Partial<CliEnvironment> = {},
): Promise<string> {
  return (await ran(make, args, { ...given, ...(columns !== undefined && { columns }) })).text;
}

/** All that a command writes, and its exit code; what it throws is thrown. */
export async function ran(make: Make, args: readonly string[], given: Given = {}): Promise<Written> {
  const { thrown, ...written } = await run(make, args, given);
  if (thrown !== undefined) throw thrown;
  return written;
}

/** The same with the error that a command ends with; undefined: well. */
export async function outcome(
  make: Make,
  args: readonly string[],
  given: Given = {},
): Promise<Written & { readonly error: WarehouseError | undefined }> {
  const { thrown, ...written } = await run(make, args, given);
  if (thrown === undefined) return { ...written, error: undefined };
  assert.ok(thrown instanceof WarehouseError, String(thrown));
  return { ...written, exitCode: thrown.exitCode, error: thrown };
}

async function run(
  make: Make,
  args: readonly string[],
  { columns, isTTY, onChunk = () => {}, ...given }: Given,
): Promise<Written & { readonly thrown: unknown }> {
  const written = { text: "", err: "", exitCode: 0 };
  const out = taking((chunk) => {
    written.text += chunk;
    onChunk(chunk);
  });
  const err = taking((chunk) => {
    written.err += chunk;
  });
  const endWith = (exitCode: number) => {
    written.exitCode = exitCode;
  };
  // Advised commands do not depend on how the tests were started, and no sentence is broken without `columns`.
  const env = { ...process.env, npm_command: undefined, COLUMNS: "1000" };
  const environment = {
    err,
    endWith,
    env,
    ...given,
    out: Object.assign(out, { columns, isTTY: isTTY === true }),
  };
  const command = make(processEnvironment(environment));
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeErr: () => {} });
  }
  try {
    await command.parseAsync([...args], { from: "user" });
    return { ...written, thrown: undefined };
  } catch (thrown) {
    return { ...written, thrown };
  }
}

function taking(take: (chunk: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      take(chunk);
      done();
    },
  });
}
