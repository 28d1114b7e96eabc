/** The steps that prepare a run, and what they open. */
import { asWarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import type { HttpClient } from "../extract/http/client.ts";
import type { PreparedOutput } from "../warehouse/layout.ts";
import type { OpenSource } from "./source.ts";

/** In this order. Only `check` has the step "configuration". */
export type StepName =
  | "configuration"
  | "pipeline"
  | "folder"
  | "lock"
  | "run before"
  | "disk"
  | "service"
  | "personal fields"
  | "destinations"
  | "targets"
  | "observers";

/** Hears of each step. An error after `begin` is the failure of that step. */
export interface StepListener {
  begin(step: StepName): void;
  note(detail: string): void;
  warn(detail: string): void;
}

/** What the preparation has opened so far; the caller closes it. */
export interface OpenResources {
  folder?: PreparedOutput;
  lock?: AsyncDisposable;
  source?: OpenSource;
  client?: HttpClient;
}

/** Closes everything. A failure to close is logged, so that it hides no other failure. */
export async function closeOpened({ client, source, lock }: OpenResources, log: Log): Promise<void> {
  const closings = [
    () => client?.close(),
    () => source?.[Symbol.asyncDispose](),
    () => lock?.[Symbol.asyncDispose](),
  ];
  for (const close of closings) {
    try {
      await close();
    } catch (thrown) {
      log.warn(asWarehouseError(thrown).message);
    }
  }
}
