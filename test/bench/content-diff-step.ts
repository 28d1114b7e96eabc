/** `diff --content` over the last two runs, in a process of its own, as it is installed. Prints what it took. */
import { Writable } from "node:stream";
import { built } from "./built.ts";
import { type Measured, measured } from "./measured.ts";

export interface ContentDiffTook extends Measured {
  readonly seconds: number;
  readonly changedItems: number;
}

const [, , warehouse = ""] = process.argv;
// As the command does before it loads anything.
process.env.UV_THREADPOOL_SIZE = "3";
const { keepHeapsSmall } = await built<typeof import("../../src/cli/v8-flags.ts")>("cli/v8-flags");
keepHeapsSmall();
const { processEnvironment } = await built<typeof import("../../src/cli/command.ts")>("cli/command");
const { diffCommand } = await built<typeof import("../../src/cli/commands/diff.ts")>("cli/commands/diff");
const chunks: string[] = [];
const out = new Writable({
  write(chunk, _encoding, done) {
    chunks.push(String(chunk));
    done();
  },
});
const began = performance.now();
const environment = processEnvironment({ out: Object.assign(out, { columns: undefined }) });
await diffCommand(environment).parseAsync(["--content", "--format", "json", "--warehouse", warehouse], {
  from: "user",
});
const seconds = (performance.now() - began) / 1000;
const answer: { readonly items_with_changed_content: number } = JSON.parse(chunks.join(""));
process.stdout.write(
  `${JSON.stringify({ seconds, changedItems: answer.items_with_changed_content, ...measured() } satisfies ContentDiffTook)}\n`,
);
