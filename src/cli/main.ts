#!/usr/bin/env node
/** The command line's entry: checks Node before anything is loaded that an older one cannot read. */
import { endSoon } from "./end-soon.ts";
import { keepPoolSmall } from "./threadpool.ts";

// A stream that refuses a write ends nothing by itself, be it that its reader went away or that a disk is full: who waits
// for an answer to be written is told (`writeAll`), and progress and the log are for those who read them.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

// By default Node opens a debugger then, to which whoever is on this machine may speak: the process holds the token.
process.on("SIGUSR1", () => {});

const OLDEST = [22, 19] as const;
/** Whether the command ends by itself after a signal. */
let isTaken = false;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `content-warehouse needs Node ${OLDEST.join(".")} or newer; this is ${process.versions.node}. ` +
      "Install a newer Node, or put one first on the PATH.\n",
  );
  process.exitCode = 2;
} else {
  keepPoolSmall();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, sayAndEnd);
  // The end of a terminal, or of a session, is no reason to lose what was read.
  for (const signal of ["SIGHUP", "SIGQUIT"] as const)
    process.on(signal, () => process.emit("SIGTERM", "SIGTERM"));
  const program = await import("./program.ts").catch(cannotLoad);
  process.exitCode = (await program?.main(process.argv).catch(cannotLoad)) ?? 1;
  if (process.exitCode === 130 || process.exitCode === 143) endSoon();
  // The database does not heed an interrupt, and no other way out waits for nothing.
  if (process.exitCode === 137) process.kill(process.pid, "SIGKILL");
}

/**
 * Ends the process at once, as a signal does by default, and says so, unless the command takes the signal: then it says
 * how it ended, and the next signal ends the process.
 */
function sayAndEnd(signal: "SIGINT" | "SIGTERM"): void {
  if (process.listenerCount(signal) > 1) {
    isTaken = true;
    return;
  }
  if (!isTaken) process.stderr.write(signal === "SIGINT" ? "Interrupted.\n" : "Terminated.\n");
  process.off(signal, sayAndEnd);
  process.kill(process.pid, signal);
}

/** Reports that the database's library could not be loaded for lack of memory. Throws any other failure. */
async function cannotLoad(thrown: unknown): Promise<undefined> {
  const { asWarehouseError, isOutOfMemory } = await import("../common/errors.ts");
  if (!isOutOfMemory(thrown)) throw thrown;
  process.stderr.write(`${asWarehouseError(thrown).message}\n`);
  return undefined;
}
