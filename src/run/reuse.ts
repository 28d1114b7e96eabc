/** Which single items of the run before may stand in for requests. */
import { hash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { treatmentOf } from "../config/config.ts";
import type { DetailsRead, Reuse } from "../extract/passes/single-items.ts";
import { type Details, isWanted, type Wanted } from "../extract/wanted-columns.ts";
import { changedMost } from "../raw/changed-most.ts";
import type { ChangedMost } from "../raw/extract-record.ts";
import { isReusedFrom, NOTHING_REUSABLE, readReusable } from "../raw/reusable.ts";
import { damageIn } from "../warehouse/raw-documents.ts";
import type { RunContext } from "./context.ts";

/** What decides, besides the answer, what a document for a single item becomes. */
export function fingerprintSettings(
  { options, personalFields }: RunContext,
  { itemColumns }: Wanted,
): string {
  const { personalData, aliases } = options.config;
  const { policy, keyId } = treatmentOf(personalData);
  const { names, customFields } = personalFields;
  const decides = [VERSION, policy, keyId, names, customFields, Object.entries(aliases).sort(), itemColumns];
  return hash("sha256", JSON.stringify(decides));
}

/** Where raw documents of the run before are missing or damaged, nothing: one warning, and all items are asked for. */
export async function reuseOf({
  baseline,
  options,
}: Pick<RunContext, "baseline"> & {
  readonly options: Pick<RunContext["options"], "config" | "log">;
}): Promise<Reuse> {
  const { rereadDays } = options.config;
  const nothing = { ...NOTHING_REUSABLE, rereadDays };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => isReusedFrom(path));
  const refuse = (why: string) => {
    options.log.warn(`Nothing of the run ${run} is reused, and all single items are asked for: ${why}.`);
    return nothing;
  };
  try {
    const damage = await damageIn(directory, files);
    if (damage !== undefined) return refuse(damage);
    const paths = files.map(({ path }) => path);
    return { ...(await readReusable({ run, directory, paths })), rereadDays };
  } catch (thrown) {
    return refuse(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}

/** Raw files of either run in which items are looked for: a listing mostly begins with the same ones. */
const MAX_FILES = 8;

interface LittleReused {
  readonly read: DetailsRead;
  readonly details: Details;
  /** Absolute paths of the raw files with documents of items. */
  readonly files: readonly string[];
}

/** Null where at least half were reused, or where the run before does not tell why they were not. */
export async function changedMostOf(
  { baseline, options }: RunContext,
  { read: { asked, reused }, details, files }: LittleReused,
): Promise<ChangedMost | null> {
  if (baseline.kind !== "run" || options.config.rereadDays === 0 || reused.count >= asked) return null;
  const { directory, manifest } = baseline;
  const before = manifest.files.filter(({ path }) => path.startsWith("raw/dynamic/")).slice(0, MAX_FILES);
  if ((await damageIn(directory, before)) !== undefined) return null;
  return changedMost({
    before: before.map(({ path }) => join(directory, path)),
    now: files.filter((file) => basename(dirname(file)) === "dynamic").slice(0, MAX_FILES),
    wants: isWanted(details),
  });
}
