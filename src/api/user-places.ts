import { z } from "zod";
import { USERS } from "./user.ts";

/** A place where the contract has a user's ID, or a user's description. */
export interface UserPlace {
  /** `["acl", "user_ids", "[]"]`: `[]` for elements of a list, `{}` for keys of a record. */
  readonly path: readonly string[];
  readonly kind: "id" | "description";
}

/** All of them in documents of a schema. */
export function userPlaces(schema: z.core.$ZodType, path: readonly string[] = []): UserPlace[] {
  const user = USERS.get(schema);
  if (user !== undefined) return [{ path, kind: user.kind }];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return userPlaces(schema.unwrap(), path);
  if (schema instanceof z.ZodArray) return userPlaces(schema.element, [...path, "[]"]);
  if (schema instanceof z.ZodRecord) return userPlaces(schema.valueType, [...path, "{}"]);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => userPlaces(option, path));
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, field]) => userPlaces(field, [...path, name]));
}
