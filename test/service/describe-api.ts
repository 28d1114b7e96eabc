import { z } from "zod";
import { basicItem } from "../../src/api/basic.ts";
import {
  customFieldDefinition,
  customFieldOptions,
  fileValue,
  fullCustomField,
  mapping,
  selectValue,
} from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import {
  acl,
  campaign,
  DYNAMIC_COLUMN_NAMES,
  DYNAMIC_COLUMNS,
  dynamicItem,
  fieldLock,
  nextTask,
} from "../../src/api/dynamic.ts";
import { listEnvelope, pagination } from "../../src/api/envelope.ts";
import { fullItem } from "../../src/api/full.ts";
import { extendedUser, user } from "../../src/api/user.ts";
import { attachment, contentType } from "../../src/api/values.ts";
import { SORT_FIELDS } from "../../src/service/query.ts";
import { singleEnvelope } from "./ask.ts";

/** The OpenAPI 3.1 description of the read interface, made from the schemas that the client reads answers with. */
export function describeApi(): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Content listing and custom field mapping interface",
      version: "v1",
      description:
        "Reads content items at three levels of detail, the destinations that content is sent to, and custom field definitions with their mappings to external values.",
      license: { name: "MIT", identifier: "MIT" },
    },
    security: [{ token: [] }],
    paths: paths(),
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        token: {
          type: "http",
          scheme: "basic",
          description: "User name: an API token. The password means nothing and may be empty.",
        },
      },
    },
  };
}

function paths(): object {
  return {
    "/api/v1/content": {
      get: {
        operationId: "listContent",
        summary: "List content items, the oldest first",
        parameters: [...VIEW_PARAMETERS, ...PAGE_PARAMETERS],
        responses: answers("A page of content items.", reference("ContentList")),
      },
    },
    "/api/v1/content/{content_id}": {
      get: {
        operationId: "getContent",
        summary: "One content item, with the columns that only single-item requests give",
        parameters: [
          { ...parameter("content_id", "ID or slug of the item.", STRING), in: "path", required: true },
          ...VIEW_PARAMETERS,
        ],
        responses: {
          ...answers("The item.", reference("SingleContent")),
          "404": refusal("There is no such item."),
          "414": refusal("The ID or slug is too long."),
        },
      },
    },
    "/api/v1/destinations": lookup(
      "Destinations",
      "Destination",
      "Look up destinations by name and platform",
      [parameter("platform", "Platform kind, e.g. External. Left out: any.", STRING)],
    ),
    "/api/v1/custom_fields_reference": lookup(
      "CustomFields",
      "CustomFieldDefinition",
      "Look up custom field definitions with their mappings by name",
      [],
    ),
  };
}

/** A parameter of the query. */
function parameter(name: string, description: string, schema: object) {
  return { name, in: "query", description, schema };
}

type Parameter = ReturnType<typeof parameter>;

const STRING = { type: "string" };

const LOOKUP_NAMES = [
  parameter("name", "Name to look up, compared exactly.", STRING),
  parameter("name[]", "Several names to look up.", { type: "array", items: STRING }),
];

function lookup(plural: string, schema: string, summary: string, more: readonly Parameter[]): object {
  const parameters = [...LOOKUP_NAMES, ...more];
  const responses = answers("What was found; an empty list where nothing was.", {
    type: "array",
    items: reference(schema),
  });
  return {
    get: { operationId: `get${plural}`, summary, parameters, responses },
    post: {
      operationId: `post${plural}`,
      summary: `${summary}, the parameters as form data`,
      requestBody: {
        required: true,
        content: { "application/x-www-form-urlencoded": { schema: formSchema(parameters) } },
      },
      responses: {
        ...responses,
        "413": refusal("The body is too large."),
        "415": refusal("The body is no form data, or it is compressed."),
      },
    },
  };
}

function formSchema(parameters: readonly Parameter[]): object {
  return {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
  };
}

const VIEW_PARAMETERS = [
  parameter("detail", "Level of detail; left out: the dynamic set, chosen by `columns[]`.", {
    enum: ["basic", "full"],
  }),
  parameter(
    "columns[]",
    `Columns to add to the default set of the dynamic set; unknown names are ignored. ${gatedColumns()}`,
    { type: "array", items: { anyOf: [{ enum: DYNAMIC_COLUMN_NAMES }, STRING] } },
  ),
  parameter("gallery", "`true` enables the gallery columns.", { type: "boolean", default: false }),
];

function gatedColumns(): string {
  const those = (gate: "galleryOnly" | "singleItemOnly") =>
    DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name][gate]).join(", ");
  return `Only with gallery=true: ${those("galleryOnly")}. Only in single-item requests: ${those("singleItemOnly")}.`;
}

const counted = (number: number) => ({ type: "integer", minimum: 1, default: number });

const PAGE_PARAMETERS = [
  parameter("page", "Page number, counted from 1. Past the end the list is empty.", counted(1)),
  parameter(
    "per_page",
    "Items a page; more than the service allows, 100 unless it is set otherwise, is taken as that.",
    counted(25),
  ),
  { name: "sort_field", in: "query", schema: { enum: SORT_FIELDS, default: "created_at" } },
  parameter("sort_dir", "1: ascending.", { enum: [1, -1], default: 1 }),
];

function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}

function answers(description: string, schema: object): Record<string, object> {
  return {
    "200": { description, content: { "application/json": { schema } } },
    "400": refusal("A parameter is missing, or the request cannot be read."),
    "401": refusal("The credentials are missing or were not accepted."),
    "405": refusal("The address does not answer this method; `Allow` names those that it does."),
    "406": refusal("The client accepts no JSON."),
    "408": refusal("The request took too long to arrive."),
    "429": refusal("Too many requests; `Retry-After` says when to come again."),
    "431": refusal("The address and the headers together are too large."),
    "500": refusal("The service failed."),
    "503": refusal("The service is stopping."),
  };
}

function refusal(description: string): object {
  return { description, content: { "application/json": { schema: reference("Error") } } };
}

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
  Error: z
    .looseObject({ error: z.string().describe("One sentence.") })
    .describe("Why the request was refused."),
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
const NOT_ALWAYS_SENT = new Map<z.core.$ZodType, readonly string[]>([
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

function componentSchemas(): Record<string, object> {
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
