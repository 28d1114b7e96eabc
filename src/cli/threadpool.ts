/**
 * Gives libuv three threads, unless the environment sets another number. Call it before any module is loaded.
 *
 * Two threads run statements of the database: memory that one frees stays with its thread, and four would keep twice as
 * much after a wide table. The third reads files. libuv resolves host names with half of its threads, so with two.
 */
export function limitThreadPool(): void {
  // Old versions of Node run this before they are refused: no newer syntax here.
  if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = "3";
}
