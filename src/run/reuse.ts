/** Which single items of the run before may stand in for requests. */
import { hash } from "node:crypto";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { treatmentOf } from "../config/config.ts";
import type { Reuse } from "../extract/passes/single-items.ts";
import type { Wanted } from "../extract/wanted-columns.ts";
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
export async function reuseOf({ baseline, options }: RunContext): Promise<Reuse> {
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
