/** Tables of entities: users, content types, campaigns and instances. */
import { columnsOf, instanceId, integer, reference, sharedTable, type Table, text } from "./declare.ts";

const USER_PLACES = [
  "full:last_updated_by",
  "full:last_updated_by_details",
  "full:owner_details",
  "dynamic:author_details",
  "dynamic:creator_details",
] as const;

const user = columnsOf(...USER_PLACES);
const extendedUser = columnsOf("full:last_updated_by_details", "full:owner_details");
const contentType = columnsOf(
  "basic:content_type",
  "full:content_type",
  "dynamic:content_type_details",
  "dynamic:full_content_type",
);
const campaign = columnsOf("dynamic:campaign_details[]", "dynamic:initiatives_details[]");
const instance = columnsOf("dynamic:instance");

const userId = text("user_id", { comment: "User → users.user_id.", required: true });
const ordinal = integer("ordinal", { comment: "Position in the list, from 0.", required: true });

export const ENTITY_TABLES = [
  sharedTable({
    name: "content_types",
    comment: "Content types of the items, such as article or event.",
    key: ["content_type_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text("content_type_id", {
        from: ["dynamic:content_type_details", "dynamic:full_content_type", ...contentType.fields("id")],
        comment: "Content type ID.",
        required: true,
      }),
      contentType.text("display_name", { comment: "Name that editors see." }),
      contentType.text("field_name", { comment: "Technical name." }),
      contentType.text("body_type", { comment: "Kind of body: `html`, `event`, `photo` and others." }),
      contentType.text("background_color", { comment: "CSS color." }),
      contentType.text("icon", { comment: "Name of the icon." }),
      contentType.text("icon_css_class", { comment: "CSS class of the icon." }),
      instanceId(contentType.fields("newsroom_id")),
      contentType.timestamp("updated_at", { comment: "When the content type was last updated." }),
    ],
  }),
  sharedTable({
    name: "users",
    comment:
      "Users that items name: creators, assignees, owners and editors. To count by person, group by user_id: names and other personal columns are filled only where the configuration keeps personal data.",
    key: ["user_id"],
    columns: [
      text("user_id", {
        from: [...USER_PLACES, ...user.fields("id")],
        comment: "User ID.",
        required: true,
      }),
      user.text("email", { comment: "E-mail address.", personal: true }),
      user.text("name", { comment: "Name.", personal: true }),
      extendedUser.text("name_sort", { comment: "Name for sorting.", personal: true }),
      user.text("slug", { comment: "URL-safe name.", personal: true }),
      user.text("bio", { comment: "Biography.", personal: true }),
      user.text("short_bio", { comment: "Short biography.", personal: true }),
      user.text("phone", { comment: "Telephone number.", personal: true }),
      user.text("avatar_feed_url", { comment: "URL of the picture, feed size.", personal: true }),
      user.text("avatar_thumbnail_url", { comment: "URL of the picture, thumbnail.", personal: true }),
      user.text("avatar_profile_large_url", { comment: "URL of the picture, large.", personal: true }),
      user.text("avatar_profile_url", { comment: "URL of the picture, profile size.", personal: true }),
      user.text("tz", { comment: "IANA time zone of the user." }),
      user.boolean("visitor", { comment: "Whether the user is a visitor." }),
      user.boolean("follow_discussion_allowed", { comment: "Whether the user may follow discussions." }),
      user.boolean("superadmin", { comment: "Whether the user is a super administrator." }),
      extendedUser.text("role", { comment: "Role of the user." }),
      extendedUser.boolean("removed", { comment: "Whether the user was removed." }),
      user.timestamp("created_at", { comment: "When the user was created." }),
      user.timestamp("updated_at", { comment: "When the user was last updated." }),
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
      text("group_id", {
        from: extendedUser.fields("group_ids"),
        comment: "ID of the group.",
      }),
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
      text("tour", { from: user.fields("tours_seen"), comment: "Name of the tour." }),
    ],
  }),
  sharedTable({
    name: "campaigns",
    comment: "Campaigns that items belong to, also called initiatives.",
    key: ["campaign_id"],
    references: [reference("instance_id", "instances")],
    columns: [
      text("campaign_id", {
        from: ["dynamic:campaign_details", "dynamic:initiatives_details", ...campaign.fields("id")],
        comment: "Campaign ID.",
        required: true,
      }),
      campaign.text("name", { comment: "Name." }),
      campaign.timestamp("start_date", { comment: "Start of the campaign." }),
      campaign.timestamp("end_date", { comment: "End of the campaign." }),
      instanceId(campaign.fields("newsroom_id")),
      campaign.timestamp("created_at", { comment: "When the campaign was created." }),
      campaign.timestamp("updated_at", { comment: "When the campaign was last updated." }),
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
      instance.text("name", { comment: "Name." }),
      instance.text("subdomain", { comment: "Subdomain of the instance." }),
    ],
  }),
] as const satisfies readonly Table[];
