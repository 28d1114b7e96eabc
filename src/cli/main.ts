#!/usr/bin/env node
/** Starts the command line, once it is clear that this version of Node can read it. */
// A failed write is reported where a command waits for it (`writeAll`). Progress and the log may get lost.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

// By default SIGUSR1 opens a debugger for everybody on the machine, and this process holds the token.
process.on("SIGUSR1", () => {});

const OLDEST_NODE = [22, 19] as const;
/** Time for what a user's functions left under way, in milliseconds. */
const LINGER_MS = 1000;
/** Whether the command ends by itself after a signal. */
let commandHandlesSignal = false;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(
    `content-warehouse needs Node ${OLDEST_NODE.join(".")} or newer; this is ${process.versions.node}. ` +
      "Install a newer Node, or put one first on the PATH.\n",
  );
  process.exitCode = 2;
} else {
  // Before any module is loaded. Two threads of libuv run statements of the database: memory that one frees stays with its
  // thread, and four would keep twice as much after a wide table. The third reads files. At most two
  // resolve host names at a time.
  if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = "3";
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, endOnSignal);
  // A terminal or session that closes ends the command as SIGTERM does, so that nothing read is lost.
  for (const signal of ["SIGHUP", "SIGQUIT"] as const)
    process.on(signal, () => process.emit("SIGTERM", "SIGTERM"));
  const program = await import("./program.ts").catch(reportOutOfMemory);
  process.exitCode = (await program?.main(process.argv).catch(reportOutOfMemory)) ?? 1;
  // The database ignored an interrupt. Every other way to end would wait for it.
  if (process.exitCode === 137) process.kill(process.pid, "SIGKILL");
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Says that a signal ended the process, and ends it, unless the command handles the signal. A second signal always ends it. */
function endOnSignal(signal: "SIGINT" | "SIGTERM"): void {
  if (process.listenerCount(signal) > 1) {
    commandHandlesSignal = true;
    return;
  }
  if (!commandHandlesSignal) process.stderr.write(signal === "SIGINT" ? "Interrupted.\n" : "Terminated.\n");
  process.off(signal, endOnSignal);
  process.kill(process.pid, signal);
}

/** Reports that the database's library did not fit into memory. Throws any other failure. */
async function reportOutOfMemory(thrown: unknown): Promise<undefined> {
  const { asWarehouseError, isOutOfMemory } = await import("../common/errors.ts");
  if (!isOutOfMemory(thrown)) throw thrown;
  process.stderr.write(`${asWarehouseError(thrown).message}\n`);
  return undefined;
}
