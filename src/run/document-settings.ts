/** What decides, besides the answer, what a document for a single item becomes: it is reused while all of it is the same. */
import { hash } from "node:crypto";
import { VERSION } from "../common/version.ts";
import { type Config, treatmentOf } from "../config/config.ts";
import type { Wanted } from "../extract/wanted-columns.ts";
import type { DocumentSetting, DocumentSettings } from "../raw/extract-record.ts";
import type { RunContext } from "./context.ts";

type Settled = Pick<RunContext, "personalFields"> & {
  readonly options: { readonly config: Pick<Config, "personalData" | "aliases"> };
};

export function documentSettings(
  { options, personalFields }: Settled,
  { columns }: Pick<Wanted, "columns">,
): DocumentSettings {
  const { personalData, aliases } = options.config;
  const { policy, keyId } = treatmentOf(personalData);
  const { names, customFields } = personalFields;
  return {
    version: digestOf(VERSION),
    policy: digestOf(policy),
    hashKey: digestOf(keyId),
    aliases: digestOf(Object.entries(aliases).sort()),
    personalFields: digestOf([names.toSorted(), customFields.toSorted()]),
    columns: digestOf(columns.toSorted()),
  };
}

function digestOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value)).slice(0, 16);
}

/** Those that are others than they were. Of documents of an earlier version nothing else is known. */
export function otherSettings(now: DocumentSettings, then: DocumentSettings | null): DocumentSetting[] {
  if (then === null) return ["version"];
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
