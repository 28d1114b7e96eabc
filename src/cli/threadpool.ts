/**
 * Gives the process three of libuv's threads, unless its environment says how many; before it loads its modules.
 *
 * Two are for statements of the database: what one freed stays with its thread, and each of four would keep what a wide
 * table took there. The third is for files, and for addresses: libuv looks them up with half of its threads, so two.
 */
export function keepPoolSmall(): void {
  // Old versions of Node read this before they are told to go: no newer syntax here.
  if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = "3";
}
