import { z } from "zod";
import { basicItem } from "../api/basic.ts";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../api/columns.ts";
import { contentType } from "../api/content-type.ts";
import {
  customFieldDefinition,
  fileValue,
  fullCustomField,
  mapping,
  selectValue,
} from "../api/custom-field.ts";
import { destination } from "../api/destination.ts";
import { campaign, dynamicItem, nextTask } from "../api/dynamic.ts";
import { errorBody, listEnvelope, pagination, singleEnvelope } from "../api/envelope.ts";
import { fullItem } from "../api/full.ts";
import { extendedUser, user } from "../api/user.ts";
import { attachment } from "../api/values.ts";
import { type PageBounds, SORT_FIELDS } from "./query.ts";

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

/** The OpenAPI 3.1 description of the read interface, made from the schemas that the client reads answers with. */
export function openApi(serverUrl: string, bounds: PageBounds): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Content listing and custom field mapping interface",
      version: "v1",
      description:
        "Reads content items at three levels of detail, the destinations that content is sent to, and custom field definitions with their mappings to external values.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl }],
    security: [{ token: [] }],
    paths: paths(bounds),
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

function componentSchemas(): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]));
}

function paths(bounds: PageBounds): object {
  return {
    "/api/v1/content": {
      get: {
        operationId: "listContent",
        summary: "List content items, the oldest first",
        parameters: [...VIEW_PARAMETERS, ...pageParameters(bounds)],
        responses: answers("A page of content items.", reference("ContentList")),
      },
    },
    "/api/v1/content/{content_id}": {
      get: {
        operationId: "getContent",
        summary: "One content item, with the columns that only single-item requests give",
        parameters: [
          {
            name: "content_id",
            in: "path",
            required: true,
            description: "ID or slug of the item.",
            schema: { type: "string" },
          },
          ...VIEW_PARAMETERS,
        ],
        responses: {
          ...answers("The item.", reference("SingleContent")),
          "404": refusal("There is no such item."),
        },
      },
    },
    "/api/v1/destinations": lookup(
      "Destinations",
      "Destination",
      "Look up destinations by name and platform",
      [DESTINATION_PLATFORM],
    ),
    "/api/v1/custom_fields_reference": lookup(
      "CustomFields",
      "CustomFieldDefinition",
      "Look up custom field definitions with their mappings by name",
      [],
    ),
  };
}

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

const DESTINATION_PLATFORM: Parameter = {
  name: "platform",
  description: "Platform kind, e.g. External. Left out: any.",
  schema: { type: "string" },
};

const LOOKUP_NAMES: readonly Parameter[] = [
  { name: "name", description: "Name to look up, compared exactly.", schema: { type: "string" } },
  {
    name: "name[]",
    description: "Several names to look up.",
    schema: { type: "array", items: { type: "string" } },
  },
];

function lookup(plural: string, schema: string, summary: string, more: readonly Parameter[]): object {
  const parameters = [...LOOKUP_NAMES, ...more];
  const responses = answers("What was found; an empty list where nothing was.", {
    type: "array",
    items: reference(schema),
  });
  return {
    get: {
      operationId: `get${plural}`,
      summary,
      parameters: parameters.map((parameter) => ({ ...parameter, in: "query" })),
      responses,
    },
    post: {
      operationId: `post${plural}`,
      summary: `${summary}, the parameters as form data`,
      requestBody: {
        required: true,
        content: { "application/x-www-form-urlencoded": { schema: formSchema(parameters) } },
      },
      responses,
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
  {
    name: "detail",
    in: "query",
    description: "Level of detail; left out: the dynamic set, chosen by `columns[]`.",
    schema: { enum: ["basic", "full"] },
  },
  {
    name: "columns[]",
    in: "query",
    description: `Columns to add to the default set of the dynamic set; unknown names are ignored. ${gatedColumns()}`,
    schema: { type: "array", items: { anyOf: [{ enum: DYNAMIC_COLUMN_NAMES }, { type: "string" }] } },
  },
  {
    name: "gallery",
    in: "query",
    description: "`true` enables the gallery columns.",
    schema: { type: "boolean", default: false },
  },
];

function gatedColumns(): string {
  const those = (gate: "galleryOnly" | "singleItemOnly") =>
    DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name][gate]).join(", ");
  return `Only with gallery=true: ${those("galleryOnly")}. Only in single-item requests: ${those("singleItemOnly")}.`;
}

function pageParameters({ defaultPerPage, maxPerPage }: PageBounds): object[] {
  return [
    {
      name: "page",
      in: "query",
      description: "Page number, counted from 1. Past the end the list is empty.",
      schema: { type: "integer", minimum: 1, default: 1 },
    },
    {
      name: "per_page",
      in: "query",
      description: `Items a page; more than ${maxPerPage} is taken as ${maxPerPage}.`,
      schema: { type: "integer", minimum: 1, default: defaultPerPage },
    },
    { name: "sort_field", in: "query", schema: { enum: SORT_FIELDS, default: "created_at" } },
    { name: "sort_dir", in: "query", description: "1: ascending.", schema: { enum: [1, -1], default: 1 } },
  ];
}

function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}

function answers(description: string, schema: object): Record<string, object> {
  return {
    "200": { description, content: { "application/json": { schema } } },
    "400": refusal("A parameter is missing or cannot be read."),
    "401": refusal("The credentials are missing or were not accepted."),
    "406": refusal("The client accepts no JSON."),
    "429": refusal("Too many requests; `Retry-After` says when to come again."),
    "500": refusal("The service failed."),
    "503": refusal("The service is stopping."),
  };
}

function refusal(description: string): object {
  return { description, content: { "application/json": { schema: reference("Error") } } };
}
