import {
  boolean,
  defineTable,
  EXTRA,
  integer,
  REQUIRED,
  reference,
  type Table,
  text,
  timestamp,
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
];

const CONTENT_TYPE = at(CONTENT_TYPE_PLACES, "*");

const USER_PLACES = [
  "full:last_updated_by",
  "full:last_updated_by_details",
  "full:owner_details",
  "dynamic:author_details",
  "dynamic:creator_details",
];
const EXTENDED_USER_PLACES = ["full:last_updated_by_details", "full:owner_details"];
const PERSONAL = { personal: true } as const;

const USER = at(USER_PLACES, "*");
const EXTENDED_USER = at(EXTENDED_USER_PLACES, "*");

const userId = text("user_id", "", "User; users.user_id.", REQUIRED);
const ordinal = integer("ordinal", "", "Position in the source list, from 0.", REQUIRED);

const CAMPAIGN_PLACES = ["dynamic:campaign_details[]", "dynamic:initiatives_details[]"];

const CAMPAIGN = at(CAMPAIGN_PLACES, "*");

export const SHARED_TABLES = [
  defineTable({
    name: "content_types",
    comment: "Content types, as the items describe them; the newest description of each.",
    stage: "shared",
    key: ["content_type_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text(
        "content_type_id",
        `dynamic:content_type_details dynamic:full_content_type ${at(CONTENT_TYPE_PLACES, "id")}`,
        "Content type ID.",
        REQUIRED,
      ),
      text("display_name", CONTENT_TYPE, "Name for people."),
      text("field_name", CONTENT_TYPE, "Name for programs."),
      text("body_type", CONTENT_TYPE, "Kind of body: `html`, `event`, `photo` and others."),
      text("background_color", CONTENT_TYPE, "CSS color."),
      text("icon", CONTENT_TYPE, "Icon."),
      text("icon_css_class", CONTENT_TYPE, "CSS class of the icon."),
      text("instance_id", at(CONTENT_TYPE_PLACES, "newsroom_id"), "Instance; instances.instance_id."),
      timestamp("updated_at", CONTENT_TYPE, "When the type was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "users",
    comment: "Users, as the items describe them; personal columns only where the policy keeps them.",
    stage: "shared",
    key: ["user_id"],
    columns: [
      text("user_id", `${USER_PLACES.join(" ")} ${at(USER_PLACES, "id")}`, "User ID.", REQUIRED),
      text("email", USER, "E-mail address.", PERSONAL),
      text("name", USER, "Name.", PERSONAL),
      text("name_sort", EXTENDED_USER, "Name for sorting.", PERSONAL),
      text("slug", USER, "URL-safe name.", PERSONAL),
      text("bio", USER, "Biography.", PERSONAL),
      text("short_bio", USER, "Short biography.", PERSONAL),
      text("phone", USER, "Telephone number.", PERSONAL),
      text("avatar_feed_url", USER, "Picture, feed size.", PERSONAL),
      text("avatar_thumbnail_url", USER, "Picture, thumbnail.", PERSONAL),
      text("avatar_profile_large_url", USER, "Picture, large.", PERSONAL),
      text("avatar_profile_url", USER, "Picture, profile size.", PERSONAL),
      text("tz", USER, "IANA time zone."),
      boolean("visitor", USER, "Whether the user is a visitor."),
      boolean("follow_discussion_allowed", USER, "Whether the user may follow discussions."),
      boolean("superadmin", USER, "Whether the user is a super administrator."),
      text("role", EXTENDED_USER, "Role."),
      boolean("removed", EXTENDED_USER, "Whether the user was removed."),
      timestamp("created_at", USER, "When the user was created."),
      timestamp("updated_at", USER, "When the user was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "user_groups",
    comment: "Groups of a user, where an extended description gave them.",
    stage: "shared",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [userId, ordinal, text("group_id", at(EXTENDED_USER_PLACES, "group_ids"), "Group ID."), EXTRA],
  }),
  defineTable({
    name: "user_tours_seen",
    comment: "Product tours that a user has seen.",
    stage: "shared",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [userId, ordinal, text("tour", at(USER_PLACES, "tours_seen"), "Tour."), EXTRA],
  }),
  defineTable({
    name: "campaigns",
    comment: "Campaigns (initiatives), as the items describe them.",
    stage: "shared",
    key: ["campaign_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text(
        "campaign_id",
        `dynamic:campaign_details dynamic:initiatives_details ${at(CAMPAIGN_PLACES, "id")}`,
        "Campaign ID.",
        REQUIRED,
      ),
      text("name", CAMPAIGN, "Name."),
      timestamp("start_date", CAMPAIGN, "Start."),
      timestamp("end_date", CAMPAIGN, "End."),
      text("instance_id", at(CAMPAIGN_PLACES, "newsroom_id"), "Instance; instances.instance_id."),
      timestamp("created_at", CAMPAIGN, "When the campaign was created."),
      timestamp("updated_at", CAMPAIGN, "When the campaign was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "instances",
    comment: "Service instances that items belong to.",
    stage: "shared",
    key: ["instance_id"],
    columns: [
      text(
        "instance_id",
        "dynamic:instance dynamic:instance.id dynamic:newsroom_id",
        "Instance ID (the wire also says newsroom ID).",
        REQUIRED,
      ),
      text("name", "dynamic:instance.name", "Name."),
      text("subdomain", "dynamic:instance.subdomain", "Subdomain."),
      EXTRA,
    ],
  }),
] as const satisfies readonly Table[];
