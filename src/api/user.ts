/** Schemas of users, and the fields of the contract that stand for users. */
import { z } from "zod";
import { schemaFields } from "./schema-fields.ts";
import { flag, instant, integer, optionalText, partial, text, textList } from "./values.ts";

/** Schemas of user IDs and user descriptions. The personal-data policy finds people by them. */
const USERS = z.registry<{ readonly kind: "id" | "description" }>();

const userId = z.string().register(USERS, { kind: "id" });
export const optionalUserId = userId.nullable();

/** A user in `last_updated_by`, `author_details` and `creator_details`. Mostly personal data. */
export const user = partial({
  id: text,
  email: optionalText,
  name: optionalText,
  avatar_feed_url: optionalText,
  avatar_thumbnail_url: optionalText,
  avatar_profile_large_url: optionalText,
  avatar_profile_url: optionalText,
  slug: optionalText,
  created_at: instant,
  updated_at: instant,
  bio: optionalText,
  short_bio: optionalText,
  visitor: flag,
  tz: optionalText.describe("IANA time zone name."),
  follow_discussion_allowed: flag,
  superadmin: flag.describe("Not sent in the dynamic set."),
  tours_seen: textList,
  phone: optionalText,
})
  .describe("A user.")
  .register(USERS, { kind: "description" });

/** A user in `last_updated_by_details` and `owner_details`. Unknown attributes are empty strings. */
export const extendedUser = user
  .extend({
    name_sort: optionalText.optional(),
    removed: flag.optional(),
    role: optionalText.optional(),
    group_ids: textList.optional(),
  })
  .describe("A user with the extended attributes.")
  .register(USERS, { kind: "description" });

/** A user who is editing the item. */
export const currentEditor = partial({
  id: userId.describe("User ID."),
  name: optionalText,
  avatar_url: optionalText,
  last_seen: integer.nullable().describe("Seconds since 1970-01-01 UTC."),
}).register(USERS, { kind: "description" });

/** A field of the contract with a user's ID, or with a user's description. */
export interface UserField {
  /** As in {@link schemaFields}. */
  readonly path: readonly string[];
  readonly kind: "id" | "description";
}

/** All fields of a schema that stand for users. */
export function userFields(schema: z.core.$ZodType): UserField[] {
  const fields = schemaFields(schema, (each) => USERS.has(each));
  return fields.flatMap(({ path, schema: each }) => {
    const user = USERS.get(each);
    return user === undefined ? [] : [{ path, kind: user.kind }];
  });
}
