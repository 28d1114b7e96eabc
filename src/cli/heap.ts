import { setFlagsFromString } from "node:v8";

/**
 * For a process that does nothing but a run. V8 gives the main thread a young generation by the machine's memory, 128 MB
 * with 24 GB, and gives none of it back; a run uses a few of them at a time. The threads that parse pages begin with as
 * much as they may have at most, so that they need not move what they parsed while they grow to it.
 *
 * An engine that does not know a flag says so and goes on.
 */
export function keepYoungGenerationsSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--min-semi-space-size=8");
}
