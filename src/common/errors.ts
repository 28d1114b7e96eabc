/** What can end a run: each code with the exit code for the scheduler, and whether asking again can help. */
const CODES = {
  "config.invalid": { exitCode: 2, retry: false },
  "config.missing_service": { exitCode: 2, retry: false },
  "config.unknown_pipeline": { exitCode: 2, retry: false },
  "config.output": { exitCode: 2, retry: false },
  "config.content_set": { exitCode: 2, retry: false },
  "config.other_instance": { exitCode: 2, retry: false },
  "config.newer_version": { exitCode: 2, retry: false },
  "config.not_found": { exitCode: 2, retry: false },
  "config.sql": { exitCode: 2, retry: false },
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

/** Process exit code, as `docs/operations.md` lists them. */
export function exitCodeFor(code: ErrorCode): number {
  return CODES[code].exitCode;
}

/** An error whose message is one sentence for the operator: the cause, then the way out. */
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

  /** Whether the same request, made again later, can succeed. */
  get retry(): boolean {
    return CODES[this.code].retry;
  }
}

/** Whether the disk is at fault, full or failing. */
export function isOfTheDisk({ code }: WarehouseError): boolean {
  return code === "disk.io" || code === "disk.full";
}

/** The verdict of an unsettled run is no error, but it has an exit code of its own. */
export const UNSETTLED_EXIT_CODE = 10;

/** Any thrown value as a WarehouseError; what is not one already is `internal`, with the cause kept. */
export function asWarehouseError(thrown: unknown): WarehouseError {
  if (thrown instanceof WarehouseError) return thrown;
  const [code, sentence] = failureOf(thrown);
  return new WarehouseError(code, sentence, { cause: thrown });
}

/** Whether it failed because the working directory was removed. */
export function lacksWorkingDirectory(thrown: unknown): boolean {
  return ((thrown ?? {}) as NodeJS.ErrnoException).syscall === "uv_cwd";
}

function failureOf(thrown: unknown): readonly [code: ErrorCode, sentence: string] {
  const { code } = (thrown ?? {}) as NodeJS.ErrnoException;
  if (lacksWorkingDirectory(thrown)) {
    return ["config.not_found", "The working directory was removed; change to a folder that exists."];
  }
  if (isOutOfHandles(thrown, code)) {
    const wayOut = "raise their limit (ulimit -n), or end what else uses them";
    return ["disk.io", `There are no file handles left; ${wayOut}.`];
  }
  if (code === "ENOSPC" || code === "EDQUOT")
    return ["disk.full", `The disk has no room for a write (${code}); free space.`];
  if (code === "EFBIG") return ["disk.full", "A file may not grow (EFBIG); raise its limit (ulimit -f)."];
  if (code === "EIO") return ["disk.io", `The disk refused a write (${code}); check the disk.`];
  if (isOutOfMemory(thrown)) {
    const wayOut = "give the program more, or raise its limits (ulimit -v, --max-old-space-size)";
    return ["internal", `The memory ran out; ${wayOut}.`];
  }
  return ["internal", `Unexpected failure: ${thrown instanceof Error ? thrown.message : String(thrown)}`];
}

/** What the system or Node calls an error, such as `ENOENT`; undefined: it has no name. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string"
    ? thrown.code
    : undefined;
}

const OUT_OF_MEMORY =
  /^WebAssembly\.\w+\(\): Out of memory|^Array buffer allocation failed|: failed to map segment from shared object/;

/** Of a thread's heap, a thread that cannot begin, a buffer, a library, or WebAssembly, of which Node's loader is made. */
export function isOutOfMemory(thrown: unknown): boolean {
  const { code, message = "" } = (thrown ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === "ERR_WORKER_OUT_OF_MEMORY" || code === "ENOMEM") return true;
  if (code === "ERR_WORKER_INIT_FAILED") return /\b(ENOMEM|EAGAIN)\b/.test(message);
  return OUT_OF_MEMORY.test(message);
}

/** A thread that finds none when it starts says so in its message alone. */
function isOutOfHandles(thrown: unknown, code: string | undefined): boolean {
  if (code === "EMFILE" || code === "ENFILE") return true;
  return code === "ERR_WORKER_INIT_FAILED" && thrown instanceof Error && /\bE[MN]FILE\b/.test(thrown.message);
}
