import type { CustomFieldDefinition } from "../api/custom-field.ts";
import type { CustomField, Destination } from "./content-set.ts";
import type { ContentSet } from "./loaded-set.ts";
import { parseNames } from "./query.ts";

/** Destinations with this name, on this platform where the request names one. Names are compared exactly. */
export function lookUpDestinations(set: ContentSet, parameters: URLSearchParams): Destination[] {
  const names = new Set(parseNames(parameters));
  const platform = parameters.get("platform");
  return set.destinations.filter(
    (destination) =>
      names.has(destination.identification) && (platform === null || destination.platform === platform),
  );
}

/** Every definition with one of these names, with its mappings. Several may share a name. */
export function lookUpCustomFields(set: ContentSet, parameters: URLSearchParams): CustomFieldDefinition[] {
  const names = new Set(parseNames(parameters));
  return set.fields.all
    .filter(({ definition }) => names.has(definition.name))
    .map(({ definition }) => lookupView(definition));
}

function lookupView(definition: CustomField): CustomFieldDefinition {
  const { id, field_type, display_label, name, formatted_select_values, mappings } = definition;
  return {
    id,
    field_type,
    display_label,
    name,
    ...(formatted_select_values && { formatted_select_values }),
    mappings,
  };
}
