/** Finds the single items of the run before that stand in for requests. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import type { Config } from "../config/config.ts";
import type { ReuseSource } from "../extract/passes/single-items.ts";
import type { RunAsked } from "../raw/extract-record.ts";
import * as names from "../raw/personal/names.ts";
import type { PersonalFields, PersonalPolicy } from "../raw/personal/policy.ts";
import { NO_FINGERPRINT, RawFileReader } from "../raw/raw-file.ts";
import type { ReusableDocument } from "../raw/reusable.ts";
import { parseRunName } from "../warehouse/layout.ts";
import { firstDamage } from "../warehouse/verify.ts";
import type { NewRun } from "./inputs.ts";

/** Settings that decide what a document becomes. A document is reused while all of them are the same. */
export function documentSettings({
  policy,
  keyId,
  aliases,
  personalFields,
  columns,
}: {
  readonly policy: PersonalPolicy;
  readonly keyId: string | null;
  readonly aliases: Config["aliases"];
  readonly personalFields: PersonalFields;
  readonly columns: readonly string[];
}): RunAsked["documentSettings"] {
  const { names: fields, customFields } = personalFields;
  return {
    version: digestOf(VERSION),
    policy: digestOf(policy === "keep" ? [policy] : [policy, names]),
    hashKey: digestOf(keyId),
    aliases: digestOf(Object.entries(aliases).sort()),
    personalFields: digestOf([fields.toSorted(), customFields.toSorted()]),
    columns: digestOf(columns.toSorted()),
  };
}

function digestOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value)).slice(0, 16);
}

/** When a run began, in milliseconds since 1970, by its name; 0 if the name does not say so. */
function startOf(run: string): number {
  return parseRunName(run)?.startedAt.getTime() ?? 0;
}

/** The latest document of each fingerprint. `ownRun`: the run that read the documents of which the file names no run. */
function reusableIn(files: readonly string[], ownRun: string): ReadonlyMap<string, ReusableDocument> {
  const documents = new Map<string, ReusableDocument>();
  for (const file of files) {
    using rows = new RawFileReader(file);
    for (const [row, { fingerprint, readByRun }] of rows.fingerprints().entries()) {
      const readAt = startOf(readByRun || ownRun);
      const known = documents.get(fingerprint)?.readAt ?? Number.NEGATIVE_INFINITY;
      if (fingerprint !== NO_FINGERPRINT && readAt >= known)
        documents.set(fingerprint, { file, row, readAt });
    }
  }
  return documents;
}

/**
 * The single items of the run before, by their fingerprints, which differ if the settings do. Reuses nothing if raw
 * documents are damaged; `damage` then says which.
 */
export async function reuseOf({ baseline, staging }: NewRun, rereadDays: number): Promise<ReuseSource> {
  const age = { rereadDays, startedAt: startOf(staging.run) };
  const nothing = { run: "", documents: new Map(), ...age, damage: null };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => path.startsWith("raw/item/"));
  const damaged = (damage: string) => ({ ...nothing, run, damage });
  try {
    const damage = await firstDamage(directory, files);
    if (damage !== undefined) return damaged(damage);
    const paths = files.map(({ path }) => join(directory, path));
    return { ...nothing, run, documents: reusableIn(paths, manifest.replayOf ?? run) };
  } catch (thrown) {
    return damaged(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}
