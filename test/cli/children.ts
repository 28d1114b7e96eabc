/** Processes that another one started, as Linux tells of them. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function childrenOf(pid: number): number[] {
  const listed = textOf(`/proc/${pid}/task/${pid}/children`);
  return listed
    .split(" ")
    .filter((each) => each !== "")
    .map(Number);
}

/** Paths of what a process has open. */
export function openFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return unlessGone(() => readdirSync(folder), []).map((fd) =>
    unlessGone(() => readlinkSync(`${folder}/${fd}`), ""),
  );
}

/** The most memory that any of them had at once; dispose of it to stop looking. */
export class ChildrenPeak implements Disposable {
  megabytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      const peaks = childrenOf(pid).map((child) =>
        Number(/^VmHWM:\s+(\d+) kB$/m.exec(textOf(`/proc/${child}/status`))?.[1] ?? 0),
      );
      this.megabytes = Math.max(this.megabytes, ...peaks.map((kilobytes) => kilobytes / 1024));
    }, 10);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Empty where the process has ended. */
function textOf(file: string): string {
  return unlessGone(() => readFileSync(file, "utf8"), "");
}

/** What is read of a process, or something else where it has ended. */
function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
