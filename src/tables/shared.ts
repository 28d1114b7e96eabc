import {
  at,
  boolean,
  columnsFrom,
  instanceId,
  REQUIRED,
  reference,
  required,
  sharedTable,
  type Table,
  text,
} from "./declare.ts";

const CONTENT_TYPE_PLACES = [
  "basic:content_type",
  "full:content_type",
  "dynamic:content_type_details",
  "dynamic:full_content_type",
];

const contentType = columnsFrom(at(CONTENT_TYPE_PLACES, "*"));

const USER_PLACES = [
  "full:last_updated_by",
  "full:last_updated_by_details",
  "full:owner_details",
  "dynamic:author_details",
  "dynamic:creator_details",
];
const EXTENDED_USER_PLACES = ["full:last_updated_by_details", "full:owner_details"];
const PERSONAL = { personal: true } as const;

const user = columnsFrom(at(USER_PLACES, "*"));
const personal = columnsFrom(at(USER_PLACES, "*"), PERSONAL);
const EXTENDED_USER = at(EXTENDED_USER_PLACES, "*");

const userId = required.text("user_id", "User; users.user_id.");
const ordinal = required.integer("ordinal", "Position in the list, from 0.");

const CAMPAIGN_PLACES = ["dynamic:campaign_details[]", "dynamic:initiatives_details[]"];

const campaign = columnsFrom(at(CAMPAIGN_PLACES, "*"));

export const SHARED_TABLES = [
  sharedTable({
    name: "content_types",
    comment: "Content types of the items, such as article or event.",
    key: ["content_type_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text(
        "content_type_id",
        `dynamic:content_type_details dynamic:full_content_type ${at(CONTENT_TYPE_PLACES, "id")}`,
        "Content type ID.",
        REQUIRED,
      ),
      contentType.text("display_name", "Name that editors see."),
      contentType.text("field_name", "Technical name."),
      contentType.text("body_type", "Kind of body: `html`, `event`, `photo` and others."),
      contentType.text("background_color", "CSS color."),
      contentType.text("icon", "Name of the icon."),
      contentType.text("icon_css_class", "CSS class of the icon."),
      instanceId(at(CONTENT_TYPE_PLACES, "newsroom_id")),
      contentType.timestamp("updated_at", "When the content type was last updated."),
    ],
  }),
  sharedTable({
    name: "users",
    comment:
      "Users that items name: creators, assignees, owners and editors. Personal columns are filled only where the configuration keeps personal data.",
    key: ["user_id"],
    columns: [
      text("user_id", `${USER_PLACES.join(" ")} ${at(USER_PLACES, "id")}`, "User ID.", REQUIRED),
      personal.text("email", "E-mail address."),
      personal.text("name", "Name."),
      text("name_sort", EXTENDED_USER, "Name for sorting.", PERSONAL),
      personal.text("slug", "URL-safe name."),
      personal.text("bio", "Biography."),
      personal.text("short_bio", "Short biography."),
      personal.text("phone", "Telephone number."),
      personal.text("avatar_feed_url", "URL of the picture, feed size."),
      personal.text("avatar_thumbnail_url", "URL of the picture, thumbnail."),
      personal.text("avatar_profile_large_url", "URL of the picture, large."),
      personal.text("avatar_profile_url", "URL of the picture, profile size."),
      user.text("tz", "IANA time zone of the user."),
      user.boolean("visitor", "Whether the user is a visitor."),
      user.boolean("follow_discussion_allowed", "Whether the user may follow discussions."),
      user.boolean("superadmin", "Whether the user is a super administrator."),
      text("role", EXTENDED_USER, "Role of the user."),
      boolean("removed", EXTENDED_USER, "Whether the user was removed."),
      user.timestamp("created_at", "When the user was created."),
      user.timestamp("updated_at", "When the user was last updated."),
    ],
  }),
  sharedTable({
    name: "user_groups",
    comment: "Groups of a user; the service gives them for owners and last editors alone.",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [userId, ordinal, text("group_id", at(EXTENDED_USER_PLACES, "group_ids"), "ID of the group.")],
  }),
  sharedTable({
    name: "user_tours_seen",
    comment: "Product tours that a user has seen, one row each.",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [userId, ordinal, text("tour", at(USER_PLACES, "tours_seen"), "Name of the tour.")],
  }),
  sharedTable({
    name: "campaigns",
    comment: "Campaigns that items belong to, also called initiatives.",
    key: ["campaign_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text(
        "campaign_id",
        `dynamic:campaign_details dynamic:initiatives_details ${at(CAMPAIGN_PLACES, "id")}`,
        "Campaign ID.",
        REQUIRED,
      ),
      campaign.text("name", "Name."),
      campaign.timestamp("start_date", "Start of the campaign."),
      campaign.timestamp("end_date", "End of the campaign."),
      instanceId(at(CAMPAIGN_PLACES, "newsroom_id")),
      campaign.timestamp("created_at", "When the campaign was created."),
      campaign.timestamp("updated_at", "When the campaign was last updated."),
    ],
  }),
  sharedTable({
    name: "instances",
    comment: "Instances of the service that items belong to.",
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
    ],
  }),
] as const satisfies readonly Table[];
