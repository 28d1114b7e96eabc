/** Finds the fields that `personalFields` names, before any document lands: documents carry IDs of custom fields. */
import { nearestSentence } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { Config } from "../config/config.ts";
import { faultsError } from "../config/read-spec.ts";
import type { HttpClient } from "../extract/http/client.ts";
import type { CustomFieldLookup } from "../extract/lookups.ts";
import { probeFieldNames } from "../extract/probe.ts";
import {
  ITEM_FIELD_NAMES,
  isItemField,
  NO_PERSONAL_FIELDS,
  type PersonalFields,
} from "../raw/personal/fields.ts";
import type { PolicySettings } from "../raw/personal/policy.ts";

/**
 * Fields that the configuration calls personal, with the IDs of custom fields. Makes no request if there are none. Throws
 * `config.invalid` for a name that neither the specification, `aliases` nor a custom field has.
 */
export async function findPersonalFields(
  { personalFields, aliases, perPage }: Pick<Config, "personalFields" | "aliases" | "perPage">,
  source: {
    readonly client: Pick<HttpClient, "readAs">;
    readonly lookUp: (names: readonly string[]) => Promise<CustomFieldLookup>;
    readonly signal: AbortSignal;
  },
): Promise<PersonalFields> {
  if (personalFields.length === 0) return NO_PERSONAL_FIELDS;
  const names = [...new Set(personalFields.map((name) => aliases[name] ?? name))];
  const { definitions, unmatched } = await source.lookUp(names);
  const specified = new Set(Object.values(aliases));
  const unknown = unmatched.filter((name) => !isItemField(name) && !specified.has(name));
  if (unknown.length > 0) {
    const others = await probeFieldNames(source.client, { perPage, signal: source.signal });
    const sentences = unknown.map((name) => sentenceOf(name, [...others, ...ITEM_FIELD_NAMES]));
    throw faultsError(sentences);
  }
  const customFields = definitions.flatMap(({ id, name }): [string, string][] =>
    name === undefined ? [] : [[id, name]],
  );
  return { names, customFields };
}

/** IDs of the personal custom fields, in order. */
export function personalFieldIds({ customFields }: PersonalFields): string[] {
  return customFields.map(([id]) => id).sort();
}

function sentenceOf(name: string, known: readonly string[]): string {
  const shown = printable(name, 60);
  return (
    `\`personalFields\`: neither a custom field nor an API field has the name "${shown}".${nearestSentence(name, known, "")} ` +
    `If the service sends an API field of that name, add it to \`aliases\`: { "${shown}": "${shown}" }.`
  );
}

export function policyOf({ personalData: { policy, key } }: Config, fields: PersonalFields): PolicySettings {
  return { policy, hashKey: key === null ? undefined : Buffer.from(key.reveal()), fields };
}
