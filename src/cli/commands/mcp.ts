import { Writable } from "node:stream";
import PQueue from "p-queue";
import { WarehouseError } from "../../common/errors.ts";
import { serveMcp } from "../../mcp/server.ts";
import type { AnswerLimits, AssistantQuestion, Questions } from "../../mcp/tools.ts";
import { CliCommand, existingFolder, positive } from "../command.ts";
import { askProcess } from "../question/ask.ts";
import { startSpare } from "../question/spare.ts";
import type { QuestionLimits, Work } from "../question/work.ts";
import { bufferMbOf } from "../sql/answer.ts";
import { askedDatabases } from "../sql/asked-databases.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";

interface Options extends AnswerLimits {
  readonly warehouse: string;
  readonly maxMemory: number;
}

const HELP = `
Example:
  $ content-warehouse mcp --warehouse /srv/warehouse

A client starts the command itself and speaks to it over standard input and output; docs/audit.md has the lines for its
configuration. Tools: list_tables, describe_table, query, explain_item, audit_mappings, diff_runs. All only read.
`;

export function mcpCommand(): CliCommand {
  return new CliCommand("mcp")
    .description("serve the warehouse to an assistant (Model Context Protocol)")
    .warehouse()
    .option("--max-rows <n>", "rows of a query's answer at most", positive, 200)
    .option("--max-bytes <n>", "bytes of an answer at most", positive, 200_000)
    .option("--max-seconds <n>", "seconds after which a question is ended", positive, 30)
    .option("--max-memory <mb>", "megabytes of memory at which a question is ended", positive, 1024)
    .addHelpText("after", HELP)
    .action(async ({ warehouse, maxMemory: maxMemoryMb, ...limits }: Options) => {
      existingFolder(warehouse);
      using server = new QuestionServer(warehouse, { ...limits, maxMemoryMb });
      await serveMcp(server);
    });
}

/** Questions that are answered beside each other; the others wait. Each may take its whole memory. */
const AT_A_TIME = 2;

/** Answers questions about one warehouse, each in a process of its own. */
class QuestionServer implements Questions, Disposable {
  readonly limits: AnswerLimits & QuestionLimits;
  readonly #warehouse: string;
  readonly #queue = new PQueue({ concurrency: AT_A_TIME });
  readonly #closing = new AbortController();

  constructor(warehouse: string, limits: AnswerLimits & QuestionLimits) {
    this.#warehouse = warehouse;
    this.limits = limits;
  }

  answer(question: AssistantQuestion, cancelled: AbortSignal): Promise<string> {
    const signal = AbortSignal.any([cancelled, this.#closing.signal]);
    return this.#queue.add(async () => this.#ask(await this.#workOf(question), signal));
  }

  async #workOf(question: AssistantQuestion): Promise<Work> {
    if ("question" in question) return { ...question, warehouse: this.#warehouse };
    const { maxBytes, maxMemoryMb } = this.limits;
    const { sql: statement, maxRows } = question;
    return {
      ...(await askedDatabases(this.#warehouse, { wanted: "current", statement })),
      statement,
      form:
        maxRows === undefined
          ? { format: "json", width: undefined, spreadsheet: false }
          : { format: "page", maxRows, maxBytes },
      file: undefined,
      bufferMb: bufferMbOf(maxMemoryMb),
    };
  }

  async #ask(work: Work, signal: AbortSignal): Promise<string> {
    const out = new Answer(this.limits.maxBytes);
    try {
      await inTemporaryFolder("mcp", (temporaryDirectory) =>
        askProcess(work, { limits: this.limits, out, temporaryDirectory, signal }),
      );
    } finally {
      if (!this.#closing.signal.aborted) startSpare("pipe");
    }
    return out.text;
  }

  /** Ends the questions under way: nobody waits for them any more. */
  [Symbol.dispose](): void {
    this.#closing.abort(
      new WarehouseError("run.interrupted", "The client closed the connection before this was answered."),
    );
  }
}

/** Keeps an answer. Fails with `config.invalid` at one that is too long. */
class Answer extends Writable {
  readonly #pieces: Buffer[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    done(this.#bytes > this.#maxBytes ? tooLong(this.#maxBytes) : undefined);
  }
}

function tooLong(maxBytes: number): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The answer is longer than ${maxBytes} bytes; narrow the question; --max-bytes of the server sets the limit.`,
  );
}
