import type { User } from "../content-set.ts";
import { JsonText } from "../json-text.ts";

/** A user in the three forms of the wire, made once. */
export interface UserViews {
  readonly user: User;
  /** `last_updated_by` in full. */
  readonly plain: JsonText;
  /** `author_details` and `creator_details` of the dynamic set, which do not say who is a superadmin. */
  readonly dynamic: JsonText;
  /** `last_updated_by_details` and `owner_details` in full. */
  readonly extended: JsonText;
}

export function userViews(user: User): UserViews {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return {
    user,
    plain: JsonText.of(plain),
    dynamic: JsonText.of(dynamic),
    extended: JsonText.of(extended),
  };
}
