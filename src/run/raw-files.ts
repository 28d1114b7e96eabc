import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Stage } from "../extract/landing/checkpoint.ts";

export interface RawFilesOptions {
  /** The run's staging folder. */
  readonly directory: string;
  /** Folder of the raw files, below `directory`. */
  readonly folder: string;
  readonly sequence: number;
}

/** Folder of the raw files below the staging folder: in the result, where they are published. */
export function rawFolder({ raw }: { readonly raw: boolean }): string {
  return raw ? join("result", "raw") : "raw";
}

/** Names of a run's raw files, relative to the staging folder: one for each mode, pass and group. */
export class RawFiles {
  readonly #options: RawFilesOptions;
  readonly #names = new Set<string>();

  constructor(options: RawFilesOptions) {
    this.#options = options;
  }

  name(stage: Stage, sweep: number, group: number): string {
    const name = `${this.#stem(stage, sweep)}${String(group).padStart(5, "0")}.parquet`;
    this.#names.add(name);
    return name;
  }

  /** Removes the files of a pass. */
  async remove(stage: Stage, sweep: number): Promise<void> {
    for (const name of [...this.#names].filter((each) => each.startsWith(this.#stem(stage, sweep)))) {
      await rm(join(this.#options.directory, name), { force: true });
      this.#names.delete(name);
    }
  }

  #stem(stage: Stage, sweep: number): string {
    const { folder, sequence } = this.#options;
    const mode = stage === "repair" ? "item" : stage;
    return join(folder, mode, `${mode}-${String(sequence).padStart(6, "0")}-${sweep}-`);
  }

  /** Absolute paths of those that exist: a group without documents has no file. */
  existing(names: Iterable<string>): string[] {
    return [...names].map((name) => join(this.#options.directory, name)).filter((file) => existsSync(file));
  }

  /** Absolute paths of all that were named and exist. */
  all(): string[] {
    return this.existing(this.#names);
  }
}
