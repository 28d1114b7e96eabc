/** Finds the fields of documents that the contract does not know. */
import { customFieldDefinition } from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import { dynamicItem } from "../api/dynamic.ts";
import { fullItem } from "../api/full.ts";
import { unknownFieldWalker } from "../api/unknown-fields.ts";
import type { JsonObject } from "../common/json.ts";
import type { Shape, UnknownField } from "./document.ts";

export type LookupResource = "destination" | "custom_field_definition";

export type RawShape = Shape | LookupResource;

const WALKERS: Readonly<Record<RawShape, ReturnType<typeof unknownFieldWalker>>> = {
  dynamic: unknownFieldWalker(dynamicItem),
  full: unknownFieldWalker(fullItem),
  destination: unknownFieldWalker(destination),
  custom_field_definition: unknownFieldWalker(customFieldDefinition),
};

/** Position of lookups in the order of observation: after all items. */
export const LOOKUP_ORDER = Number.MAX_SAFE_INTEGER;

/** `unforeseen` gets the lists and objects that stand where the contract has none. */
export function unknownFields(
  shape: RawShape,
  document: JsonObject,
  unforeseen?: (path: readonly string[], value: object) => void,
): UnknownField[] {
  const found: UnknownField[] = [];
  WALKERS[shape](
    document,
    (path, value, parent) => found.push({ path, parent, value, claimed: false }),
    unforeseen,
  );
  return found;
}

/** A path as drift shows it: `attachments[].filename`. */
export function pathOf(names: readonly string[]): string {
  return names.join(".").replaceAll(".[]", "[]");
}
