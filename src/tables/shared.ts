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
const ordinal = integer("ordinal", "", "Position in the list, from 0.", REQUIRED);

const CAMPAIGN_PLACES = ["dynamic:campaign_details[]", "dynamic:initiatives_details[]"];

const CAMPAIGN = at(CAMPAIGN_PLACES, "*");

export const SHARED_TABLES = [
  defineTable({
    name: "content_types",
    comment: "Content types of the items, such as article or event.",
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
      text("display_name", CONTENT_TYPE, "Name that editors see."),
      text("field_name", CONTENT_TYPE, "Technical name."),
      text("body_type", CONTENT_TYPE, "Kind of body: `html`, `event`, `photo` and others."),
      text("background_color", CONTENT_TYPE, "CSS color."),
      text("icon", CONTENT_TYPE, "Name of the icon."),
      text("icon_css_class", CONTENT_TYPE, "CSS class of the icon."),
      text(
        "instance_id",
        at(CONTENT_TYPE_PLACES, "newsroom_id"),
        "Instance of the service; instances.instance_id.",
      ),
      timestamp("updated_at", CONTENT_TYPE, "When the content type was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "users",
    comment:
      "Users that items name: creators, assignees, owners and editors. Personal columns are filled only where the configuration keeps personal data.",
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
      text("avatar_feed_url", USER, "URL of the picture, feed size.", PERSONAL),
      text("avatar_thumbnail_url", USER, "URL of the picture, thumbnail.", PERSONAL),
      text("avatar_profile_large_url", USER, "URL of the picture, large.", PERSONAL),
      text("avatar_profile_url", USER, "URL of the picture, profile size.", PERSONAL),
      text("tz", USER, "IANA time zone of the user."),
      boolean("visitor", USER, "Whether the user is a visitor."),
      boolean("follow_discussion_allowed", USER, "Whether the user may follow discussions."),
      boolean("superadmin", USER, "Whether the user is a super administrator."),
      text("role", EXTENDED_USER, "Role of the user."),
      boolean("removed", EXTENDED_USER, "Whether the user was removed."),
      timestamp("created_at", USER, "When the user was created."),
      timestamp("updated_at", USER, "When the user was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "user_groups",
    comment: "Groups of a user; the service gives them for owners and last editors alone.",
    stage: "shared",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [
      userId,
      ordinal,
      text("group_id", at(EXTENDED_USER_PLACES, "group_ids"), "ID of the group."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "user_tours_seen",
    comment: "Product tours that a user has seen, one row each.",
    stage: "shared",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [userId, ordinal, text("tour", at(USER_PLACES, "tours_seen"), "Name of the tour."), EXTRA],
  }),
  defineTable({
    name: "campaigns",
    comment: "Campaigns that items belong to, also called initiatives.",
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
      timestamp("start_date", CAMPAIGN, "Start of the campaign."),
      timestamp("end_date", CAMPAIGN, "End of the campaign."),
      text(
        "instance_id",
        at(CAMPAIGN_PLACES, "newsroom_id"),
        "Instance of the service; instances.instance_id.",
      ),
      timestamp("created_at", CAMPAIGN, "When the campaign was created."),
      timestamp("updated_at", CAMPAIGN, "When the campaign was last updated."),
      EXTRA,
    ],
  }),
  defineTable({
    name: "instances",
    comment: "Instances of the service that items belong to.",
    stage: "shared",
    key: ["instance_id"],
    columns: [
      text(
        "instance_id",
        "dynamic:instance dynamic:instance.id dynamic:newsroom_id",
        "Instance ID, also called newsroom ID.",
        REQUIRED,
      ),
      text("name", "dynamic:instance.name", "Name."),
      text("subdomain", "dynamic:instance.subdomain", "Subdomain of the instance."),
      EXTRA,
    ],
  }),
] as const satisfies readonly Table[];
