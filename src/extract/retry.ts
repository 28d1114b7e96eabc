export interface Retry {
  run<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T>;
}
