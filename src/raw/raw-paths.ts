import { join } from "node:path";
import { EXTRACT_FILE } from "./extract-record.ts";
import type { LookupMode } from "./raw-file.ts";

/** Where documents come from: pages of a listing, requests for what it listed, requests after passes, or a lookup. */
export type RawStage = "dynamic" | "full" | "item" | "after" | LookupMode;

/** Folder of the raw files below the staging folder: in the result, where they are published. */
export function rawFolderPath({ raw }: { readonly raw: boolean }): string {
  return raw ? join("result", "raw") : "raw";
}

/** Absolute paths of a run's raw files: one for each stage, pass and group. A group without documents has no file. */
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

  /** Of a lookup, which has no passes. */
  ofLookup(mode: LookupMode): string {
    return this.of(mode, 0, 0);
  }

  /** Of what a run notes of its own requests, or of their rejects. */
  ofNotes(what: "requests" | "rejects", part: number): string {
    return join(this.folder, `${what}-${this.#sequence}-0-${padded(part)}.parquet`);
  }

  /** What the documents do not say. */
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
