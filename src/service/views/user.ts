import type { User } from "../content-set.ts";

/** A user in the three forms of the wire, made once. */
export interface UserViews {
  readonly user: User;
  /** `last_updated_by` in full. */
  readonly plain: object;
  /** `author_details` and `creator_details` of the dynamic set, which do not say who is a superadmin. */
  readonly dynamic: object;
  /** `last_updated_by_details` and `owner_details` in full. */
  readonly extended: object;
}

export function userViews(user: User): UserViews {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return { user, plain, dynamic, extended };
}
