import type { z } from "zod";
import { placesIn, type SchemaPlace } from "./places.ts";
import { USERS } from "./user.ts";

/** A place where the contract has a user's ID, or a user's description. */
export interface UserPlace extends Pick<SchemaPlace, "path"> {
  readonly kind: "id" | "description";
}

/** All of them in documents of a schema. */
export function userPlaces(schema: z.core.$ZodType): UserPlace[] {
  const places = placesIn(schema, (each) => USERS.has(each));
  return places.flatMap(({ path, schema: each }) => {
    const user = USERS.get(each);
    return user === undefined ? [] : [{ path, kind: user.kind }];
  });
}
