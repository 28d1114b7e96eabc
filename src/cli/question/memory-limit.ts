/** The memory of another process, measured from outside: what a library takes there no limit of its own or of Node's sees. */
import { type ChildProcess, execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../../common/errors.ts";

interface MemoryLimitOptions {
  readonly limitMb: number;
  /** How often it is measured. A process takes some 100 MB in 50 ms at the most. */
  readonly everyMs: number;
}

/** Ends a process that takes more than it may, until it is disposed of. */
export class MemoryLimit implements Disposable {
  /** Megabytes that the process had when it was ended for that; null: it was not. */
  tookMb: number | null = null;
  readonly #timer: NodeJS.Timeout;
  #isMeasuring = false;

  constructor(child: ChildProcess, { limitMb, everyMs }: MemoryLimitOptions) {
    this.#timer = setInterval(async () => {
      if (this.#isMeasuring || this.tookMb !== null || child.pid === undefined) return;
      this.#isMeasuring = true;
      const megabytes = await residentMb(child.pid);
      this.#isMeasuring = false;
      if (megabytes <= limitMb) return;
      this.tookMb = megabytes;
      child.kill("SIGKILL");
    }, everyMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Memory that a process has now; 0: it has ended, or the system does not say. */
async function residentMb(pid: number): Promise<number> {
  try {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  } catch (thrown) {
    if (process.platform === "linux" && ["ENOENT", "ESRCH"].includes(codeOf(thrown) ?? "")) return 0;
  }
  const ps = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => undefined);
  return Number(ps?.stdout ?? 0) / 1024;
}
