/** Which single items of the run before may stand in for requests. */
import { basename, dirname, join } from "node:path";
import { asWarehouseError } from "../common/errors.ts";
import type { DetailsRead, Reuse } from "../extract/passes/single-items.ts";
import { type Details, isWanted } from "../extract/wanted-columns.ts";
import { changedMost } from "../raw/changed-most.ts";
import type { ChangedMost, DocumentSettings } from "../raw/extract-record.ts";
import { isReusedFrom, type KeptItems, readReusable, type WhyNone } from "../raw/reusable.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import { damageIn } from "../warehouse/raw-documents.ts";
import type { RunContext } from "./context.ts";
import { otherSettings } from "./document-settings.ts";

export interface NextRun {
  readonly baseline: Baseline;
  readonly rereadDays: number;
  readonly settings: DocumentSettings;
}

/** Where raw documents of the run before are missing or damaged, nothing: all items are asked for. */
export async function reuseOf({ baseline, rereadDays, settings }: NextRun): Promise<Reuse> {
  const nothing = { run: "", documents: new Map(), rejected: new Set<string>(), rereadDays, whyNone: null };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => isReusedFrom(path));
  const damaged = (finding: string) => ({ ...nothing, run, whyNone: { kind: "damaged", finding } }) as const;
  try {
    const damage = await damageIn(directory, files);
    if (damage !== undefined) return damaged(damage);
    const paths = files.map(({ path }) => path);
    const kept = await readReusable({ run, directory, paths });
    if (!paths.some((path) => path.startsWith("raw/item/")))
      return { ...nothing, rejected: kept?.rejected ?? nothing.rejected, whyNone: { kind: "no_documents" } };
    if (kept === undefined) return { ...nothing, whyNone: { kind: "settings", names: ["version"] } };
    const whyNone = whyNoneOf(kept, { settings, erased: manifest.erasedAt !== undefined });
    return { ...kept, documents: whyNone === null ? kept.documents : new Map(), rereadDays, whyNone };
  } catch (thrown) {
    return damaged(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}

interface Judged {
  readonly settings: DocumentSettings;
  /** Whether somebody was erased from the run before. */
  readonly erased: boolean;
}

function whyNoneOf(kept: KeptItems, { settings, erased }: Judged): WhyNone | null {
  const names = otherSettings(settings, kept.settings);
  if (names.length > 0) return { kind: "settings", names };
  if (kept.documents.size > 0) return null;
  return { kind: erased ? "erased" : "none_fits" };
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
