import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import type { Destination } from "./content-set.ts";
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

/** The fields of a definition that the contract declares, in its order. */
const shown = z.object(customFieldDefinition.shape);

/** Every definition with one of these names, with its mappings. Several may share a name. */
export function lookUpCustomFields(set: ContentSet, parameters: URLSearchParams): object[] {
  const names = new Set(parseNames(parameters));
  const found = set.fields.all.filter(({ definition }) => names.has(definition.name));
  return found.map(({ definition }) => shown.parse(definition));
}
