/** The instances that documents of items name. */
import { isObject, type JsonObject } from "../../common/json.ts";

/** IDs of the instances that a document names, by the names of the specification. */
export function instanceIdsOf({ newsroom_id, instance }: JsonObject): string[] {
  return [newsroom_id, isObject(instance) && instance.id].filter((id) => typeof id === "string");
}

/** The ID, if there is exactly one; else `null`. */
export function onlyId(ids: Iterable<string>): string | null {
  const [first = null, ...others] = new Set(ids);
  return others.length === 0 ? first : null;
}
