import { type ContentSetFolder, readFolder } from "./content-set.ts";
import { fieldValueRows, fieldValues } from "./field-values.ts";
import { itemRows } from "./items.ts";
import { definitionsOf, mappedRows } from "./mapped.ts";
import { Mentions, mappingRows } from "./shared.ts";
import type { Emit } from "./values.ts";
import { sees } from "./viewer.ts";

/** How the export was made; single-item requests are made of events. */
export interface ExportOptions {
  /** Token that the export used. */
  readonly token: string;
  /** Names of the destinations that were looked up, with their platforms. */
  readonly destinations: readonly { readonly name: string; readonly platform: string }[];
  /** Names of custom fields that were looked up besides those of the items. */
  readonly customFields: readonly string[];
  readonly personalData: "keep" | "drop";
}

/**
 * Works out every row that an export of the content set must have, table by table in no order. `custom_field_files`
 * comes once per mention.
 */
export function expectedRows(folder: string, options: ExportOptions, emit: Emit): void {
  const set = readFolder(folder);
  const user = userOf(set, options.token);
  const mentions = new Mentions(set);
  for (const document of set.documents()) if (sees(user, document)) mentions.add(document);

  const lookedUp = set.destinations.filter((destination) =>
    options.destinations.some(
      ({ name, platform }) => destination.identification === name && destination.platform === platform,
    ),
  );
  const fields = mentions.lookedUpFields(options).sort((a, b) => (a.id < b.id ? -1 : 1));
  mentions.rows(options, emit);
  mentions.fieldRows(fields, emit);
  mappingRows(fields, lookedUp, emit);

  const rowsOf = itemRows(set, options, user);
  const definitions = definitionsOf(fields, lookedUp);
  const fieldsById = new Map(set.fields.map((field) => [field.id, field]));
  for (const document of set.documents()) {
    if (!sees(user, document)) continue;
    const values = fieldValues(document, fieldsById);
    rowsOf(document, emit);
    fieldValueRows(document, values, emit);
    mappedRows(document, values, definitions, emit);
  }
}

function userOf(set: ContentSetFolder, token: string) {
  const id = set.tokens.find((each) => each.token === token)?.user_id;
  const user = id === undefined ? undefined : set.users.get(id);
  if (user === undefined) throw new Error(`the content set describes no user of the token "${token}"`);
  return user;
}
