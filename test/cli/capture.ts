import { Writable } from "node:stream";
import type { Command } from "commander";
import type { Terminal } from "../../src/cli/terminal.ts";

/** What a command writes; with `columns`, as to a screen of that width. */
export async function capture(
  make: (terminal: Terminal) => Command,
  args: readonly string[],
  columns?: number,
): Promise<string> {
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
  await command.parseAsync([...args], { from: "user" });
  return text;
}
