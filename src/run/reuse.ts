/** Which single items of the run before may stand in for requests. */
import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { treatmentOf } from "../config/config.ts";
import type { ColumnPlan } from "../extract/column-plan.ts";
import type { Reuse } from "../extract/passes/single-items.ts";
import type { DocumentSettings } from "../raw/extract-record.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import * as names from "../raw/personal/names.ts";
import type { PersonalPolicy } from "../raw/personal/policy.ts";
import { isReusedFrom, readReusable } from "../raw/reusable.ts";
import { parseRunName } from "../warehouse/layout.ts";
import { damageIn } from "../warehouse/raw-documents.ts";
import type { RunContext } from "./context.ts";

/** What decides, besides the answer, what a document for a single item becomes: it is reused while all of it is the same. */
export function documentSettings(
  { options, personalFields }: Pick<RunContext, "options" | "personalFields">,
  { columns }: Pick<ColumnPlan, "columns">,
): DocumentSettings {
  const { personalData, aliases } = options.config;
  const { policy, keyId } = treatmentOf(personalData);
  return {
    version: digestOf(VERSION),
    policy: policyDigest(policy),
    hashKey: digestOf(keyId),
    aliases: digestOf(Object.entries(aliases).sort()),
    personalFields: personalFieldsDigest(personalFields),
    columns: digestOf(columns.toSorted()),
  };
}

/** Tells whether documents were treated by the same policy, and by the same names that look personal. */
export function policyDigest(policy: PersonalPolicy): string {
  return digestOf(policy === "keep" ? [policy] : [policy, names]);
}

/** Tells whether documents were treated by the same `personalFields`. */
export function personalFieldsDigest({ names: fields, customFields }: PersonalFields): string {
  return digestOf([fields.toSorted(), customFields.toSorted()]);
}

function digestOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value)).slice(0, 16);
}

/** When a run began, by its name; a name that does not say so is of long ago. */
function startOf(run: string): number {
  return parseRunName(run)?.startedAt.getTime() ?? 0;
}

/** Where raw documents of the run before are missing or damaged, nothing: all items are asked for. */
export async function reuseOf(
  { baseline, staging, options }: RunContext,
  settings: DocumentSettings,
): Promise<Reuse> {
  const { rereadDays } = options.config;
  const age = { rereadDays, startedAt: startOf(staging.run) };
  const nothing = { run: "", documents: new Map(), failed: new Set<string>(), ...age, damage: null };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => isReusedFrom(path));
  const damaged = (damage: string) => ({ ...nothing, run, damage });
  try {
    const damage = await damageIn(directory, files);
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
    return { run, documents, failed: kept.failed, ...age, damage: null };
  } catch (thrown) {
    return damaged(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}
