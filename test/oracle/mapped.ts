import { type DefinitionIndex, indexDefinitions } from "../../src/audit/mapping/definitions.ts";
import type { CustomField, Document, ServedDestination } from "../../src/service/content-set.ts";
import { mapItem } from "../audit/mapping/procedure.ts";
import type { FieldValue } from "./field-values.ts";
import type { Emit } from "./values.ts";

/** The definitions as the mapping procedure reads them. */
export function definitionsOf(
  fields: readonly CustomField[],
  lookedUp: readonly ServedDestination[],
): DefinitionIndex {
  return indexDefinitions(
    fields.map(({ id, name, field_type, formatted_select_values: offered = [], mappings }) => ({
      customFieldId: id,
      name,
      fieldType: field_type,
      selectValues: offered.map(({ id: valueId, ...rest }) => ({ valueId, ...rest })),
      mappings: mappings.map((mapping) => ({
        mappingId: mapping.id,
        destinationId: mapping.external_site_id,
        externalFieldName: mapping.field_name,
        entries: mapping.values.map((entry) => ({
          mappingValueId: entry.id,
          valueId: entry.value_id,
          externalValue: entry.value,
        })),
      })),
    })),
    lookedUp.map(({ id, identification, supports_custom_field_mappings: supportsMappings }) => ({
      destinationId: id,
      identification,
      supportsMappings,
    })),
  );
}

/** What the procedure of the specification gives for one item at all destinations. */
export function mappedRows(
  document: Document,
  given: readonly FieldValue[],
  definitions: DefinitionIndex,
  emit: Emit,
): void {
  const values = given.map(({ fieldId, ordinal, sent, id, text }) => ({
    ...{ customFieldId: fieldId, ordinal, input: sent, inputIsId: sent === id, text },
  }));
  const item = { contentId: document.id, values };
  const { mappedValues, payloads } = mapItem(item, definitions, { passthrough: false });
  for (const row of mappedValues) {
    const cells = Object.entries(row).map(([name, cell]) => [snakeCase(name), cell]);
    const receives = row.destinationUnsupported !== true;
    emit("content_mapped_values", { ...Object.fromEntries(cells), receives });
  }
  for (const [destination_id, members] of payloads) {
    const target = definitions.destinations.find(({ destinationId }) => destinationId === destination_id);
    emit("content_external_payloads", {
      content_id: document.id,
      destination_id,
      payload: Object.fromEntries(members),
      receives: target?.supportsMappings !== false,
    });
  }
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
