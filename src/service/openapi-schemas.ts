import { z } from "zod";
import { basicItem } from "../api/basic.ts";
import { contentType } from "../api/content-type.ts";
import {
  customFieldDefinition,
  customFieldOptions,
  fileValue,
  fullCustomField,
  mapping,
  selectValue,
} from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import {
  acl,
  campaign,
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  dynamicItem,
  fieldLock,
  nextTask,
} from "../api/dynamic.ts";
import { errorBody, listEnvelope, pagination, singleEnvelope } from "../api/envelope.ts";
import { fullItem } from "../api/full.ts";
import { extendedUser, user } from "../api/user.ts";
import { attachment } from "../api/values.ts";

const anyItem = z
  .union([dynamicItem, basicItem, fullItem])
  .meta({ description: "A content item, at the level of detail that was asked for." });

/** Schemas of the contract by the name that they have in the description. */
const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Attachment: attachment,
  BasicItem: basicItem,
  Campaign: campaign,
  ContentItem: anyItem,
  ContentList: listEnvelope(anyItem),
  ContentType: contentType,
  CustomFieldDefinition: customFieldDefinition,
  CustomFieldFile: fileValue,
  Destination: destination,
  DynamicItem: dynamicItem,
  Error: errorBody,
  ExtendedUser: extendedUser,
  FullCustomField: fullCustomField,
  FullItem: fullItem,
  Mapping: mapping,
  NextTask: nextTask,
  Pagination: pagination,
  SelectValue: selectValue,
  SingleContent: singleEnvelope(anyItem),
  User: user,
};

/**
 * What this service leaves out at times; it always sends everything else that is described. The contract itself
 * requires little, because a client gets along with services that send less.
 */
const NOT_ALWAYS_SENT: ReadonlyMap<z.core.$ZodType, readonly string[]> = new Map<
  z.core.$ZodType,
  readonly string[]
>([
  [dynamicItem, DYNAMIC_COLUMN_NAMES.filter((name) => !DYNAMIC_COLUMNS[name].defaultSet)],
  // The dynamic set does not say who is a superadmin.
  [user, ["superadmin"]],
  [customFieldDefinition, ["formatted_select_values"]],
  [fullCustomField, ["default_value", "select_values", "formatted_select_values"]],
  // Sent as the content set has them.
  [acl, Object.keys(acl.shape)],
  [customFieldOptions, Object.keys(customFieldOptions.shape)],
  [fieldLock, Object.keys(fieldLock.shape)],
  [fileValue, Object.keys(fileValue.shape)],
]);

export function componentSchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => requireWhatIsSent(zodSchema, jsonSchema),
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

function requireWhatIsSent(schema: z.core.$ZodType, described: z.core.JSONSchema.BaseSchema): void {
  if (described.properties === undefined) return;
  const missing = NOT_ALWAYS_SENT.get(schema) ?? [];
  const required = Object.keys(described.properties).filter((name) => !missing.includes(name));
  if (required.length === 0) delete described.required;
  else described.required = required;
}
