import {
  type Column,
  type ColumnOptions,
  type ColumnType,
  column,
  defineTable,
  EXTRA,
  integer,
  reference,
  text,
} from "./declare.ts";

/** Origins of one attribute below each of `places`: `at(["dynamic:author_details"], "id")`. */
function at(places: readonly string[], attribute: string): string {
  return places.map((place) => `${place}.${attribute}`).join(" ");
}

const CONTENT_TYPE_PLACES = [
  "basic:content_type",
  "full:content_type",
  "dynamic:content_type_details",
  "dynamic:full_content_type",
] as const;

const contentTypeColumn = (
  name: string,
  type: ColumnType,
  comment: string,
  attribute: string = name,
): Column => column(name, type, at(CONTENT_TYPE_PLACES, attribute), comment);

export const contentTypes = defineTable({
  name: "content_types",
  comment: "Content types, as the items describe them; the newest description of each.",
  stage: "shared",
  key: ["content_type_id"],
  rows: { kind: "program" },
  references: [reference("instance_id", "instances")],
  columns: [
    text(
      "content_type_id",
      `dynamic:content_type_details dynamic:full_content_type ${at(CONTENT_TYPE_PLACES, "id")}`,
      "Content type ID.",
      { required: true },
    ),
    contentTypeColumn("display_name", "text", "Name for people."),
    contentTypeColumn("field_name", "text", "Name for programs."),
    contentTypeColumn("body_type", "text", "Kind of body: `html`, `event`, `photo` and others."),
    contentTypeColumn("background_color", "text", "CSS color."),
    contentTypeColumn("icon", "text", "Icon."),
    contentTypeColumn("icon_css_class", "text", "CSS class of the icon."),
    contentTypeColumn("instance_id", "text", "Instance; instances.instance_id.", "newsroom_id"),
    contentTypeColumn("updated_at", "timestamp", "When the type was last updated."),
    EXTRA,
  ],
});

const USER_PLACES = [
  "full:last_updated_by",
  "full:last_updated_by_details",
  "full:owner_details",
  "dynamic:author_details",
  "dynamic:creator_details",
] as const;
const EXTENDED_USER_PLACES = ["full:last_updated_by_details", "full:owner_details"] as const;
const PERSONAL = { personal: true } as const;

const userColumn = (name: string, type: ColumnType, comment: string, options: ColumnOptions = {}): Column =>
  column(name, type, at(USER_PLACES, name), comment, options);

const extendedUserColumn = (
  name: string,
  type: ColumnType,
  comment: string,
  options: ColumnOptions = {},
): Column => column(name, type, at(EXTENDED_USER_PLACES, name), comment, options);

export const users = defineTable({
  name: "users",
  comment: "Users, as the items describe them; personal columns only where the policy keeps them.",
  stage: "shared",
  key: ["user_id"],
  rows: { kind: "program" },
  references: [],
  columns: [
    text("user_id", `${USER_PLACES.join(" ")} ${at(USER_PLACES, "id")}`, "User ID.", { required: true }),
    userColumn("email", "text", "E-mail address.", PERSONAL),
    userColumn("name", "text", "Name.", PERSONAL),
    extendedUserColumn("name_sort", "text", "Name for sorting.", PERSONAL),
    userColumn("slug", "text", "URL-safe name.", PERSONAL),
    userColumn("bio", "text", "Biography.", PERSONAL),
    userColumn("short_bio", "text", "Short biography.", PERSONAL),
    userColumn("phone", "text", "Telephone number.", PERSONAL),
    userColumn("avatar_feed_url", "text", "Picture, feed size.", PERSONAL),
    userColumn("avatar_thumbnail_url", "text", "Picture, thumbnail.", PERSONAL),
    userColumn("avatar_profile_large_url", "text", "Picture, large.", PERSONAL),
    userColumn("avatar_profile_url", "text", "Picture, profile size.", PERSONAL),
    userColumn("tz", "text", "IANA time zone."),
    userColumn("visitor", "boolean", "Whether the user is a visitor."),
    userColumn("follow_discussion_allowed", "boolean", "Whether the user may follow discussions."),
    userColumn("superadmin", "boolean", "Whether the user is a super administrator."),
    extendedUserColumn("role", "text", "Role."),
    extendedUserColumn("removed", "boolean", "Whether the user was removed."),
    userColumn("created_at", "timestamp", "When the user was created."),
    userColumn("updated_at", "timestamp", "When the user was last updated."),
    EXTRA,
  ],
});

const userId = text("user_id", "", "User; users.user_id.", { required: true });
const ordinal = integer("ordinal", "", "Position in the source list, from 0.", { required: true });

export const userGroups = defineTable({
  name: "user_groups",
  comment: "Groups of a user, where an extended description gave them.",
  stage: "shared",
  key: ["user_id", "ordinal"],
  rows: { kind: "program" },
  references: [reference("user_id", "users")],
  columns: [
    userId,
    ordinal,
    column("group_id", "text", at(EXTENDED_USER_PLACES, "group_ids"), "Group ID."),
    EXTRA,
  ],
});

export const userToursSeen = defineTable({
  name: "user_tours_seen",
  comment: "Product tours that a user has seen.",
  stage: "shared",
  key: ["user_id", "ordinal"],
  rows: { kind: "program" },
  references: [reference("user_id", "users")],
  columns: [userId, ordinal, column("tour", "text", at(USER_PLACES, "tours_seen"), "Tour."), EXTRA],
});

const CAMPAIGN_PLACES = ["dynamic:campaign_details[]", "dynamic:initiatives_details[]"] as const;

const campaignColumn = (name: string, type: ColumnType, comment: string, attribute: string = name): Column =>
  column(name, type, at(CAMPAIGN_PLACES, attribute), comment);

export const campaigns = defineTable({
  name: "campaigns",
  comment: "Campaigns (initiatives), as the items describe them.",
  stage: "shared",
  key: ["campaign_id"],
  rows: { kind: "program" },
  references: [reference("instance_id", "instances")],
  columns: [
    text(
      "campaign_id",
      `dynamic:campaign_details dynamic:initiatives_details ${at(CAMPAIGN_PLACES, "id")}`,
      "Campaign ID.",
      { required: true },
    ),
    campaignColumn("name", "text", "Name."),
    campaignColumn("start_date", "timestamp", "Start."),
    campaignColumn("end_date", "timestamp", "End."),
    campaignColumn("instance_id", "text", "Instance; instances.instance_id.", "newsroom_id"),
    campaignColumn("created_at", "timestamp", "When the campaign was created."),
    campaignColumn("updated_at", "timestamp", "When the campaign was last updated."),
    EXTRA,
  ],
});

export const instances = defineTable({
  name: "instances",
  comment: "Service instances that items belong to.",
  stage: "shared",
  key: ["instance_id"],
  rows: { kind: "program" },
  references: [],
  columns: [
    text(
      "instance_id",
      "dynamic:instance dynamic:instance.id dynamic:newsroom_id",
      "Instance ID (the wire also says newsroom ID).",
      { required: true },
    ),
    text("name", "dynamic:instance.name", "Name."),
    text("subdomain", "dynamic:instance.subdomain", "Subdomain."),
    EXTRA,
  ],
});
