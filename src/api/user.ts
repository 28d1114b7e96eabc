import { flag, instant, optionalText, partial, text, textList } from "./values.ts";

/** A user, as `last_updated_by`, `author_details` and `creator_details` show one. Mostly personal data. */
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
}).describe("A user.");

/** The extended user of `last_updated_by_details` and `owner_details`. Empty strings stand for what is not known. */
export const extendedUser = user
  .extend({
    name_sort: optionalText.optional(),
    removed: flag.optional(),
    role: optionalText.optional(),
    group_ids: textList.optional(),
  })
  .describe("A user with the extended attributes.");
