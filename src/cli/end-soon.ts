/** Ends the program although work of a user's functions is under way that does not heed its signal. */
export function endSoon(): void {
  setTimeout(() => process.exit(), 1000).unref();
}
