/** Finds the single items of the run before that stand in for requests. */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import type { Config } from "../config/config.ts";
import type { ReuseSource } from "../extract/passes/single-items.ts";
import type { DocumentSettings } from "../raw/extract-record.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import * as names from "../raw/personal/names.ts";
import type { PersonalPolicy } from "../raw/personal/policy.ts";
import { isReuseFile, readReusable } from "../raw/reusable.ts";
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
}): DocumentSettings {
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

/** Reuses nothing if raw documents of the run before are missing or damaged; `damage` then says which. */
export async function reuseOf(
  { baseline, staging }: NewRun,
  rereadDays: number,
  settings: DocumentSettings,
): Promise<ReuseSource> {
  const age = { rereadDays, startedAt: startOf(staging.run) };
  const nothing = { run: "", documents: new Map(), ...age, damage: null };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => isReuseFile(path));
  const damaged = (damage: string) => ({ ...nothing, run, damage });
  try {
    const damage = await firstDamage(directory, files);
    if (damage !== undefined) return damaged(damage);
    const paths = files.map(({ path }) => path);
    const readBy = manifest.replayOf ?? run;
    const kept = await readReusable({
      run,
      directory,
      paths,
      startOf: (earlier) => startOf(earlier || readBy),
    });
    if (kept === undefined) return nothing;
    const documents = isDeepStrictEqual(kept.settings, settings) ? kept.documents : nothing.documents;
    return { run, documents, ...age, damage: null };
  } catch (thrown) {
    return damaged(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}
