/** The signal of what nobody stops. */
export const NEVER = new AbortController().signal;
