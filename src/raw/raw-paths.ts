import { join } from "node:path";
import { EXTRACT_FILE } from "./extract-record.ts";
import type { LookupMode } from "./raw-file.ts";

/** Where documents come from: a listing, single items that it listed, single items after a pass, or a lookup. */
type RawStage = "dynamic" | "full" | "item" | "after" | LookupMode;

/** Path of the raw files below the staging folder; within the result if they are published. */
export function rawFolderPath({ raw }: { readonly raw: boolean }): string {
  return raw ? join("result", "raw") : "raw";
}

/** Absolute paths of a run's raw files: one for each stage, pass and group. */
export class RawPaths {
  /** Absolute path. */
  readonly folder: string;
  readonly #sequence: string;

  /** `directory`: the run's staging folder; `folder` is below it. */
  constructor(options: { readonly directory: string; readonly folder: string; readonly sequence: number }) {
    this.folder = join(options.directory, options.folder);
    this.#sequence = String(options.sequence).padStart(6, "0");
  }

  of(stage: RawStage, pass: number, group: number): string {
    return `${this.#stem(stage, pass)}${padded(group)}.parquet`;
  }

  ofLookup(mode: LookupMode): string {
    return this.of(mode, 0, 0);
  }

  /** File with rows of `run_requests` or `run_rejects`. */
  ofNotes(what: "requests" | "rejects", part: number): string {
    return join(this.folder, `${what}-${this.#sequence}-0-${padded(part)}.parquet`);
  }

  get record(): string {
    return join(this.folder, EXTRACT_FILE);
  }

  #stem(stage: RawStage, pass: number): string {
    return join(this.folder, stage === "after" ? "item" : stage, `${stage}-${this.#sequence}-${pass}-`);
  }
}

function padded(number: number): string {
  return String(number).padStart(5, "0");
}
