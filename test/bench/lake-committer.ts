/** Commits one run after another of its own instance to one table, as a delivery does, and says how many it made. */
import { setTimeout } from "node:timers/promises";
import { checkpointIfDue } from "../../src/targets/lake/delta/checkpoint.ts";
import { commitReplacement } from "../../src/targets/lake/delta/commit.ts";
import { filePath } from "../../src/targets/lake/keys.ts";
import type { StoreOptions } from "../../src/targets/store/address.ts";
import { openStore } from "../../src/targets/store/open-store.ts";
import { BENCHED } from "./lake-commits.ts";

/** As JSON in the first argument. */
export interface CommitterSettings {
  readonly store: StoreOptions;
  readonly instance: string;
  /** Milliseconds since 1970: all begin at once. */
  readonly fromMs: number;
  readonly untilMs: number;
}

const [, , argument = ""] = process.argv;
const { store: options, instance, fromMs, untilMs }: CommitterSettings = JSON.parse(argument);
const { signal } = new AbortController();
await using store = await openStore(options, signal);
if (Date.now() > fromMs) throw new Error("it began after the others");
await setTimeout(fromMs - Date.now());
let commits = 0;
while (Date.now() < untilMs) {
  const sequence = commits + 1;
  const path = filePath(instance, BENCHED.name, sequence, String(sequence).padStart(64, "0"));
  const statistics = [{ column: "id", min: "a", max: "z", nulls: 0 }];
  const version = await commitReplacement(
    store,
    {
      table: BENCHED,
      instance,
      sequence,
      run: `run ${sequence}`,
      files: [{ path, bytes: 1000, rows: 10, statistics }],
      attempt: instance,
      atMs: Date.now(),
      retentionDays: 30,
    },
    signal,
  );
  if (version === null) throw new Error(`${instance} has a later run than ${sequence}`);
  commits += 1;
  await checkpointIfDue(store, BENCHED.name, version, {
    nowMs: Date.now(),
    retentionMs: 30 * 86_400_000,
  });
}
process.stdout.write(`${JSON.stringify({ commits })}\n`);
