/** Where Node keeps what it compiled, for processes whose environment a test sets: none where this one keeps nothing. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
