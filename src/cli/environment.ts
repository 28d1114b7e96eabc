/** What commands have around them. */
import type { Readable, Writable } from "node:stream";
import { systemClock } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { createLog, type Log } from "../common/log.ts";
import type { Secret } from "../common/secret.ts";
import { endSoon } from "./end-soon.ts";

/** `columns`: width of the screen in characters; undefined where the output is a file or a pipe. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined };
export type Input = Readable & { readonly isTTY?: boolean };

export interface CliEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Throws where the folder was removed, so only those who need it ask. */
  readonly cwd: string;
  /** Only those who need it ask, likewise. */
  readonly input: Input;
  /** Takes the answer. */
  readonly out: Output;
  /** Takes progress, the log, and what else is not the answer. */
  readonly err: Output;
  /** Says how the program is to end although nothing failed. */
  readonly endWith: (exitCode: number) => void;
  /** Ends the program soon, whatever a user's function has under way. */
  readonly endSoon: () => void;
}

/** That of this process, but for what is given. */
export function processEnvironment(given: Partial<CliEnvironment> = {}): CliEnvironment {
  return {
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    get input() {
      return process.stdin;
    },
    out: process.stdout,
    err: process.stderr,
    endWith: (exitCode) => {
      process.exitCode = exitCode;
    },
    endSoon,
    ...given,
  };
}

/** The log of a command that asks the service for a person who waits: warnings, without the token. */
export function warningsTo({ err }: CliEnvironment, token: Secret): Log {
  return createLog({
    level: "warn",
    format: "text",
    secrets: [token],
    clock: systemClock,
    write: (line) => err.write(line),
  });
}

/**
 * A signal that SIGINT or SIGTERM aborts with an error; a second one ends the process at once, as it does by default.
 * `left`: what the work leaves behind then, such as `nothing was published`.
 */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly #interrupt: () => void;
  readonly #terminate: () => void;

  constructor(left: string) {
    const stop = (code: "run.interrupted" | "run.terminated", how: string) => () =>
      this.#controller.abort(new WarehouseError(code, `${how}; ${left}.`));
    this.#interrupt = stop("run.interrupted", "Interrupted");
    this.#terminate = stop("run.terminated", "Terminated");
    process.once("SIGINT", this.#interrupt).once("SIGTERM", this.#terminate);
    // A process that was started with a channel ends with the one that started it, however that ended.
    process.once("disconnect", this.#terminate);
  }

  get exitCode(): number {
    return asWarehouseError(this.signal.reason).exitCode;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#interrupt).off("SIGTERM", this.#terminate);
    process.off("disconnect", this.#terminate);
  }
}
