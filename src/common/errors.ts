/** Errors with a code. Each code has an exit code for the scheduler and says whether the same request may succeed later. */
const CODES = {
  "config.invalid": { exitCode: 2, retry: false },
  "config.missing_service": { exitCode: 2, retry: false },
  "config.unknown_pipeline": { exitCode: 2, retry: false },
  "config.output": { exitCode: 2, retry: false },
  "config.content_set": { exitCode: 2, retry: false },
  "config.other_instance": { exitCode: 2, retry: false },
  "config.newer_version": { exitCode: 2, retry: false },
  "config.not_found": { exitCode: 2, retry: false },
  "config.package": { exitCode: 2, retry: false },
  "config.sql": { exitCode: 2, retry: false },
  "answer.nothing": { exitCode: 3, retry: false },
  "source.tls": { exitCode: 2, retry: false },
  "source.proxy": { exitCode: 2, retry: false },
  "source.credentials": { exitCode: 20, retry: false },
  "source.unreachable": { exitCode: 21, retry: true },
  "source.timeout": { exitCode: 21, retry: true },
  "source.unavailable": { exitCode: 21, retry: true },
  "source.damaged": { exitCode: 22, retry: true },
  "source.protocol": { exitCode: 22, retry: false },
  "source.too_large": { exitCode: 22, retry: false },
  "source.rejects": { exitCode: 22, retry: false },
  "contract.drift": { exitCode: 23, retry: false },
  "guard.shrink": { exitCode: 24, retry: false },
  "audit.threshold": { exitCode: 25, retry: false },
  "load.failed": { exitCode: 26, retry: false },
  "target.unavailable": { exitCode: 26, retry: true },
  "target.refused": { exitCode: 26, retry: false },
  "target.fenced": { exitCode: 26, retry: false },
  "disk.io": { exitCode: 30, retry: false },
  "disk.full": { exitCode: 30, retry: false },
  "verify.failed": { exitCode: 31, retry: false },
  "run.locked": { exitCode: 75, retry: false },
  "run.interrupted": { exitCode: 130, retry: false },
  "run.terminated": { exitCode: 143, retry: false },
  "process.killed": { exitCode: 137, retry: false },
  internal: { exitCode: 1, retry: false },
} as const;

export type ErrorCode = keyof typeof CODES;

/** Exit code of the process; `docs/operations.md` lists them. */
export function exitCodeFor(code: ErrorCode): number {
  return CODES[code].exitCode;
}

/** An error whose message is a sentence for the operator: what happened, then what to do. */
export class WarehouseError extends Error {
  override readonly name = "WarehouseError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): number {
    return exitCodeFor(this.code);
  }

  /** Whether the same request can succeed later. */
  get retry(): boolean {
    return CODES[this.code].retry;
  }
}

/** A `config.invalid` error. */
export function invalidConfig(sentence: string, cause?: unknown): WarehouseError {
  return new WarehouseError("config.invalid", sentence, { cause });
}

/** An `answer.nothing` error: what a question asks about does not exist. */
export function noAnswer(sentence: string): WarehouseError {
  return new WarehouseError("answer.nothing", sentence);
}

/** Whether the disk is full or failing. */
export function isOfTheDisk({ code }: WarehouseError): boolean {
  return code === "disk.io" || code === "disk.full";
}

/** Turns any thrown value into a `WarehouseError`. What is none becomes one of the disk or `internal`, with its cause. */
export function asWarehouseError(thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const [code, sentence] = failureOf(thrown);
  return new WarehouseError(code, sentence, { cause: thrown });
}

function failureOf(thrown: unknown): readonly [code: ErrorCode, sentence: string] {
  const { code, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (syscall === "uv_cwd") {
    return ["config.not_found", "The working directory was removed; change to a folder that exists."];
  }
  if (isOutOfHandles(thrown, code)) {
    const wayOut = "raise the limit (ulimit -n), or close other programs";
    return ["disk.io", `No file handles are left; ${wayOut}.`];
  }
  if (code === "ENOSPC" || code === "EDQUOT") return ["disk.full", `The disk is full (${code}); free space.`];
  if (code === "EFBIG") return ["disk.full", "A file reached its size limit (EFBIG); raise it (ulimit -f)."];
  if (code === "EIO") return ["disk.io", `A disk failed (${code}); check it.`];
  if (isOutOfMemory(thrown)) {
    const wayOut = "give the program more memory, or raise its limits (ulimit -v, --max-old-space-size)";
    return ["internal", `The program ran out of memory; ${wayOut}.`];
  }
  return ["internal", `Unexpected failure: ${thrown instanceof Error ? thrown.message : String(thrown)}`];
}

/** Code that the system or Node gave an error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : undefined;
}

const OUT_OF_MEMORY =
  /^WebAssembly\.\w+\(\): Out of memory|^Array buffer allocation failed|: failed to map segment from shared object/;

/** Whether memory ran out: for a thread, a buffer, a library, or the WebAssembly in Node's module loader. */
export function isOutOfMemory(thrown: unknown): boolean {
  const { code, message = "" } = (thrown ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === "ERR_WORKER_OUT_OF_MEMORY" || code === "ENOMEM") return true;
  if (code === "ERR_WORKER_INIT_FAILED") return /\b(ENOMEM|EAGAIN)\b/.test(message);
  return OUT_OF_MEMORY.test(message);
}

/** Whether file handles ran out. A thread that cannot start says so only in its message. */
function isOutOfHandles(thrown: unknown, code: string | undefined): boolean {
  if (code === "EMFILE" || code === "ENFILE") return true;
  return code === "ERR_WORKER_INIT_FAILED" && thrown instanceof Error && /\bE[MN]FILE\b/.test(thrown.message);
}
