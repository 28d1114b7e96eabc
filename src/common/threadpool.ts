/**
 * Gives the process three of libuv's threads, unless its environment says how many; before it begins with them, which is
 * when it loads its modules.
 *
 * Statements of the database run on these threads, two at a time, and what a statement freed stays with its thread: with
 * four of them, each keeps what a wide table took there. The third is for files, and lets addresses be looked up two at a
 * time, as four would: libuv gives lookups half of its threads.
 */
export function keepPoolSmall(): void {
  // Old versions of Node read this before they are told to go: no newer syntax here.
  if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = "3";
}
