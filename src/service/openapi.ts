import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../api/dynamic.ts";
import { componentSchemas } from "./openapi-schemas.ts";
import { type PageBounds, SORT_FIELDS } from "./query.ts";

/** The description as JSON, made once: each request adds the address that it was sent to. */
export function describeApi(bounds: PageBounds): (serverUrl: string) => string {
  const text = JSON.stringify(openApi(bounds));
  return (serverUrl) => `{"servers":${JSON.stringify([{ url: serverUrl }])},${text.slice(1)}`;
}

/** The OpenAPI 3.1 description of the read interface, made from the schemas that the client reads answers with. */
function openApi(bounds: PageBounds): object {
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
          "414": refusal("The ID or slug is too long."),
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
