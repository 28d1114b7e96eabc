/** Which single items of the run before may stand in for requests. */
import { hash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { asWarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { type Config, treatmentOf } from "../config/config.ts";
import type { DetailsRead, Reuse } from "../extract/passes/single-items.ts";
import { type Details, isWanted, type Wanted } from "../extract/wanted-columns.ts";
import { changedMost } from "../raw/changed-most.ts";
import type { ChangedMost, DocumentSetting, DocumentSettings, WhyNoneKind } from "../raw/extract-record.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import * as names from "../raw/personal/names.ts";
import type { PersonalPolicy } from "../raw/personal/policy.ts";
import { isReusedFrom, type KeptItems, readReusable, type WhyNone } from "../raw/reusable.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import { damageIn } from "../warehouse/raw-documents.ts";
import type { RunContext } from "./context.ts";

type Settled = Pick<RunContext, "personalFields"> & {
  readonly options: { readonly config: Pick<Config, "personalData" | "aliases"> };
};

/** What decides, besides the answer, what a document for a single item becomes: it is reused while all of it is the same. */
export function documentSettings(
  { options, personalFields }: Settled,
  { columns }: Pick<Wanted, "columns">,
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

/** Those that are others than they were. */
function otherSettings(now: DocumentSettings, then: DocumentSettings): DocumentSetting[] {
  return (Object.keys(now) as DocumentSetting[]).filter((name) => now[name] !== then[name]);
}

const SETTING_TEXTS: Readonly<Record<DocumentSetting, string>> = {
  version: "the version of content-warehouse",
  policy: "the policy for personal data",
  hashKey: "the hash key",
  aliases: "`aliases`",
  personalFields: "`personalFields`",
  columns: "the columns that are asked for",
};

/** A clause. */
export function otherSettingsText(names: readonly DocumentSetting[]): string {
  return `not as in the run before: ${names.map((name) => SETTING_TEXTS[name]).join(", ")}`;
}

/** Clauses about the documents of the run before. */
export const WHY_NONE_TEXTS = {
  no_documents: "it kept no raw documents of them",
  none_fits: "their answers were of other states than its listing, or had URLs signed for one answer alone",
  none_as_listed: "none is of an item as it is listed now",
} as const satisfies Record<Exclude<WhyNoneKind, "damaged" | "settings">, string>;

interface NextRun {
  readonly baseline: Baseline;
  readonly rereadDays: number;
  readonly settings: DocumentSettings;
}

/** Where raw documents of the run before are missing or damaged, nothing: all items are asked for. */
export async function reuseOf({ baseline, rereadDays, settings }: NextRun): Promise<Reuse> {
  const nothing = { run: "", documents: new Map(), failed: new Set<string>(), rereadDays, whyNone: null };
  if (baseline.kind !== "run" || rereadDays === 0) return nothing;
  const { run, directory, manifest } = baseline;
  const files = manifest.files.filter(({ path }) => isReusedFrom(path));
  const damaged = (finding: string) => ({ ...nothing, run, whyNone: { kind: "damaged", finding } }) as const;
  try {
    const damage = await damageIn(directory, files);
    if (damage !== undefined) return damaged(damage);
    const paths = files.map(({ path }) => path);
    const kept = await readReusable({ run, directory, paths });
    if (kept === undefined || !paths.some((path) => path.startsWith("raw/item/")))
      return { ...nothing, failed: kept?.failed ?? nothing.failed, whyNone: { kind: "no_documents" } };
    const whyNone = whyNoneOf(kept, settings);
    return { ...kept, documents: whyNone === null ? kept.documents : new Map(), rereadDays, whyNone };
  } catch (thrown) {
    return damaged(asWarehouseError(thrown).message.replace(/\.$/, ""));
  }
}

function whyNoneOf(kept: KeptItems, settings: DocumentSettings): WhyNone | null {
  const names = otherSettings(settings, kept.settings);
  if (names.length > 0) return { kind: "settings", names };
  if (kept.documents.size > 0) return null;
  return { kind: "none_fits" };
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
