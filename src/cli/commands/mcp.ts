import { Writable } from "node:stream";
import PQueue from "p-queue";
import { WarehouseError } from "../../common/errors.ts";
import { serveMcp } from "../../mcp/server.ts";
import type { AnswerLimits, CommandAnswer, Commands } from "../../mcp/tools.ts";
import { interruptStatements } from "../../storage/duckdb.ts";
import { CliCommand, existingFolder, positive, processEnvironment } from "../command.ts";
import { INTERRUPT_EVERY_MS } from "../temporary-folder.ts";
import { auditCommand } from "./audit.ts";
import { diffCommand } from "./diff.ts";
import { explainCommand } from "./explain.ts";
import { sqlCommand } from "./sql.ts";

interface Options extends AnswerLimits {
  readonly warehouse: string;
}

const HELP = `
Example:
  $ content-warehouse mcp --warehouse /srv/warehouse

A client starts the command itself and speaks to it over standard input and output; docs/audit.md has the lines for its
configuration. Tools: list_tables, describe_table, query, explain_item, mapping_coverage, diff_runs. All only read.
`;

export function mcpCommand(): CliCommand {
  return new CliCommand("mcp")
    .description("serve the warehouse to an assistant over the Model Context Protocol, read-only")
    .warehouse()
    .option("--max-rows <n>", "rows of a query's answer at most", positive, 200)
    .option("--max-bytes <n>", "bytes of an answer at most", positive, 200_000)
    .option("--max-seconds <n>", "seconds after which a question is ended", positive, 30)
    .addHelpText("after", HELP)
    .action(async ({ warehouse, maxRows, maxBytes, maxSeconds }: Options) => {
      existingFolder(warehouse);
      await serveMcp(commandsOn(warehouse, { maxRows, maxBytes, maxSeconds }));
    });
}

const COMMANDS: Readonly<Record<string, typeof sqlCommand>> = {
  sql: sqlCommand,
  explain: explainCommand,
  audit: auditCommand,
  diff: diffCommand,
};

/** The commands on one warehouse, one at a time: what ends a question that takes too long ends all that are under way. */
function commandsOn(warehouse: string, limits: AnswerLimits): Commands {
  const queue = new PQueue({ concurrency: 1 });
  return {
    limits,
    answer: ([name = "", ...args], maxLines = Number.POSITIVE_INFINITY) =>
      queue.add(() => answerOf(name, [`--warehouse=${warehouse}`, ...args], { ...limits, maxLines })),
  };
}

async function answerOf(
  name: string,
  args: string[],
  { maxBytes, maxLines, maxSeconds }: AnswerLimits & { readonly maxLines: number },
): Promise<CommandAnswer> {
  const make = COMMANDS[name];
  if (make === undefined) throw new TypeError(`no tool asks the command ${name}`);
  const page = new Page(maxBytes, maxLines);
  const over = AbortSignal.timeout(maxSeconds * 1000);
  // Statements that follow the ended ones end, too.
  const timer = setInterval(() => over.aborted && interruptStatements(), INTERRUPT_EVERY_MS);
  try {
    await make(processEnvironment({ out: page }))
      .exitOverride()
      .parseAsync(args, { from: "user" });
  } catch (cause) {
    if (!over.aborted) throw cause;
    const wayOut = 'ask for less, or start "content-warehouse mcp" with --max-seconds';
    throw new WarehouseError("config.invalid", `The question was ended after ${maxSeconds} s; ${wayOut}.`, {
      cause,
    });
  } finally {
    clearInterval(timer);
  }
  return page;
}

/** Keeps what a command writes, and goes away as `head` does once that is enough: the command ends then. */
class Page extends Writable implements CommandAnswer {
  text = "";
  isWhole = true;
  readonly #maxBytes: number;
  readonly #maxLines: number;
  #lines = 0;

  constructor(maxBytes: number, maxLines: number) {
    super({ decodeStrings: false });
    this.#maxBytes = maxBytes;
    this.#maxLines = maxLines;
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.text += chunk;
    this.#lines += chunk.split("\n").length - 1;
    this.isWhole = this.#lines <= this.#maxLines && Buffer.byteLength(this.text) <= this.#maxBytes;
    if (!this.isWhole) this.text = Buffer.from(this.text).subarray(0, this.#maxBytes).toString();
    done(
      this.isWhole ? undefined : Object.assign(new Error("The answer is long enough."), { code: "EPIPE" }),
    );
  }
}
