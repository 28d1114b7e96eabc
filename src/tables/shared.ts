import {
  below,
  boolean,
  instanceId,
  integer,
  reference,
  sharedTable,
  type Table,
  text,
  timestamp,
} from "./declare.ts";

const CONTENT_TYPE_PLACES = [
  "basic:content_type",
  "full:content_type",
  "dynamic:content_type_details",
  "dynamic:full_content_type",
] as const;

const USER_PLACES = [
  "full:last_updated_by",
  "full:last_updated_by_details",
  "full:owner_details",
  "dynamic:author_details",
  "dynamic:creator_details",
] as const;
const EXTENDED_USER_PLACES = ["full:last_updated_by_details", "full:owner_details"] as const;

const userId = text("user_id", { comment: "User; users.user_id.", required: true });
const ordinal = integer("ordinal", { comment: "Position in the list, from 0.", required: true });

const CAMPAIGN_PLACES = ["dynamic:campaign_details[]", "dynamic:initiatives_details[]"] as const;

export const SHARED_TABLES = [
  sharedTable({
    name: "content_types",
    comment: "Content types of the items, such as article or event.",
    key: ["content_type_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text("content_type_id", {
        from: [
          "dynamic:content_type_details",
          "dynamic:full_content_type",
          ...below(CONTENT_TYPE_PLACES, "id"),
        ],
        comment: "Content type ID.",
        required: true,
      }),
      text("display_name", {
        from: below(CONTENT_TYPE_PLACES, "display_name"),
        comment: "Name that editors see.",
      }),
      text("field_name", { from: below(CONTENT_TYPE_PLACES, "field_name"), comment: "Technical name." }),
      text("body_type", {
        from: below(CONTENT_TYPE_PLACES, "body_type"),
        comment: "Kind of body: `html`, `event`, `photo` and others.",
      }),
      text("background_color", {
        from: below(CONTENT_TYPE_PLACES, "background_color"),
        comment: "CSS color.",
      }),
      text("icon", { from: below(CONTENT_TYPE_PLACES, "icon"), comment: "Name of the icon." }),
      text("icon_css_class", {
        from: below(CONTENT_TYPE_PLACES, "icon_css_class"),
        comment: "CSS class of the icon.",
      }),
      instanceId(below(CONTENT_TYPE_PLACES, "newsroom_id")),
      timestamp("updated_at", {
        from: below(CONTENT_TYPE_PLACES, "updated_at"),
        comment: "When the content type was last updated.",
      }),
    ],
  }),
  sharedTable({
    name: "users",
    comment:
      "Users that items name: creators, assignees, owners and editors. To count by person, group by user_id: names and other personal columns are filled only where the configuration keeps personal data.",
    key: ["user_id"],
    columns: [
      text("user_id", {
        from: [...USER_PLACES, ...below(USER_PLACES, "id")],
        comment: "User ID.",
        required: true,
      }),
      text("email", { from: below(USER_PLACES, "email"), comment: "E-mail address.", personal: true }),
      text("name", { from: below(USER_PLACES, "name"), comment: "Name.", personal: true }),
      text("name_sort", {
        from: below(EXTENDED_USER_PLACES, "name_sort"),
        comment: "Name for sorting.",
        personal: true,
      }),
      text("slug", { from: below(USER_PLACES, "slug"), comment: "URL-safe name.", personal: true }),
      text("bio", { from: below(USER_PLACES, "bio"), comment: "Biography.", personal: true }),
      text("short_bio", {
        from: below(USER_PLACES, "short_bio"),
        comment: "Short biography.",
        personal: true,
      }),
      text("phone", { from: below(USER_PLACES, "phone"), comment: "Telephone number.", personal: true }),
      text("avatar_feed_url", {
        from: below(USER_PLACES, "avatar_feed_url"),
        comment: "URL of the picture, feed size.",
        personal: true,
      }),
      text("avatar_thumbnail_url", {
        from: below(USER_PLACES, "avatar_thumbnail_url"),
        comment: "URL of the picture, thumbnail.",
        personal: true,
      }),
      text("avatar_profile_large_url", {
        from: below(USER_PLACES, "avatar_profile_large_url"),
        comment: "URL of the picture, large.",
        personal: true,
      }),
      text("avatar_profile_url", {
        from: below(USER_PLACES, "avatar_profile_url"),
        comment: "URL of the picture, profile size.",
        personal: true,
      }),
      text("tz", { from: below(USER_PLACES, "tz"), comment: "IANA time zone of the user." }),
      boolean("visitor", { from: below(USER_PLACES, "visitor"), comment: "Whether the user is a visitor." }),
      boolean("follow_discussion_allowed", {
        from: below(USER_PLACES, "follow_discussion_allowed"),
        comment: "Whether the user may follow discussions.",
      }),
      boolean("superadmin", {
        from: below(USER_PLACES, "superadmin"),
        comment: "Whether the user is a super administrator.",
      }),
      text("role", { from: below(EXTENDED_USER_PLACES, "role"), comment: "Role of the user." }),
      boolean("removed", {
        from: below(EXTENDED_USER_PLACES, "removed"),
        comment: "Whether the user was removed.",
      }),
      timestamp("created_at", {
        from: below(USER_PLACES, "created_at"),
        comment: "When the user was created.",
      }),
      timestamp("updated_at", {
        from: below(USER_PLACES, "updated_at"),
        comment: "When the user was last updated.",
      }),
    ],
  }),
  sharedTable({
    name: "user_groups",
    comment: "Groups of a user; the service gives them for owners and last editors alone.",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [
      userId,
      ordinal,
      text("group_id", { from: below(EXTENDED_USER_PLACES, "group_ids"), comment: "ID of the group." }),
    ],
  }),
  sharedTable({
    name: "user_tours_seen",
    comment: "Product tours that a user has seen, one row each.",
    key: ["user_id", "ordinal"],
    references: [reference("user_id", "users")],
    columns: [
      userId,
      ordinal,
      text("tour", { from: below(USER_PLACES, "tours_seen"), comment: "Name of the tour." }),
    ],
  }),
  sharedTable({
    name: "campaigns",
    comment: "Campaigns that items belong to, also called initiatives.",
    key: ["campaign_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text("campaign_id", {
        from: ["dynamic:campaign_details", "dynamic:initiatives_details", ...below(CAMPAIGN_PLACES, "id")],
        comment: "Campaign ID.",
        required: true,
      }),
      text("name", { from: below(CAMPAIGN_PLACES, "name"), comment: "Name." }),
      timestamp("start_date", {
        from: below(CAMPAIGN_PLACES, "start_date"),
        comment: "Start of the campaign.",
      }),
      timestamp("end_date", { from: below(CAMPAIGN_PLACES, "end_date"), comment: "End of the campaign." }),
      instanceId(below(CAMPAIGN_PLACES, "newsroom_id")),
      timestamp("created_at", {
        from: below(CAMPAIGN_PLACES, "created_at"),
        comment: "When the campaign was created.",
      }),
      timestamp("updated_at", {
        from: below(CAMPAIGN_PLACES, "updated_at"),
        comment: "When the campaign was last updated.",
      }),
    ],
  }),
  sharedTable({
    name: "instances",
    comment: "Instances of the service that items belong to.",
    key: ["instance_id"],
    columns: [
      text("instance_id", {
        from: ["dynamic:instance", "dynamic:instance.id", "dynamic:newsroom_id"],
        comment: "Instance ID, also called newsroom ID.",
        required: true,
      }),
      text("name", { from: ["dynamic:instance.name"], comment: "Name." }),
      text("subdomain", { from: ["dynamic:instance.subdomain"], comment: "Subdomain of the instance." }),
    ],
  }),
] as const satisfies readonly Table[];
