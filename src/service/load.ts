/** Reads a content set from a folder, applies changes to it, and indexes it for the service. */
import { isUtf8 } from "node:buffer";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { fullCustomField } from "../api/custom-field.ts";
import { WarehouseError } from "../common/errors.ts";
import { type ContentSetData, contentSetSchema, type Document, type User } from "./content-set.ts";
import { JsonText } from "./json-text.ts";

/** Checks every line. Throws `config.content_set` with file and line for anything that cannot be served. */
export async function loadContentSet(folder: string): Promise<ContentSet> {
  const { contentType, user, campaign, customField, destination, tokens, instance } = contentSetSchema;
  const lines = async <T>(name: string, schema: z.ZodType<T>) =>
    (await parsedLines(folder, name, schema)).map(({ value }) => value);
  const documents = await parsedLines(folder, "content.ndjson", contentSetSchema.document);
  return assembleContentSet({
    // As they are written: the check would put members into another order.
    documents: documents.map(({ text }): Document => JSON.parse(text)),
    contentTypes: await lines("content_types.ndjson", contentType),
    users: await lines("users.ndjson", user),
    campaigns: await lines("campaigns.ndjson", campaign),
    customFields: await lines("custom_fields.ndjson", customField),
    destinations: await lines("destinations.ndjson", destination),
    tokens: await readWhole(folder, "tokens.json", tokens),
    instance: await readWhole(folder, "instance.json", instance),
  });
}

/** Values and texts of the lines of a file. Throws `config.content_set` with the line that cannot be read. */
async function parsedLines<T>(folder: string, name: string, schema: z.ZodType<T>) {
  const text = await readText(folder, name);
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    return [{ value: parseAs(schema, line, `${join(folder, name)}, line ${index + 1}`), text: line }];
  });
}

async function readWhole<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T> {
  return parseAs(schema, await readText(folder, name), join(folder, name));
}

async function readText(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new WarehouseError(
      "config.content_set",
      `The content set ${folder} has no readable ${name}; name another folder, or leave it out to serve the sample.`,
      { cause },
    );
  });
  if (!isUtf8(bytes)) throw unreadable(path, "it is not UTF-8 text");
  return bytes.toString();
}

function parseAs<T>(schema: z.ZodType<T>, text: string, where: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(where, cause instanceof z.ZodError ? firstIssue(cause) : "it is not valid JSON", cause);
  }
}

function firstIssue({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join(".");
  return path ? `${path}: ${issue?.message}` : (issue?.message ?? "it has another shape");
}

function unreadable(where: string, reason: string, cause?: unknown): WarehouseError {
  const message = `The content set cannot be read: ${where}: ${reason.replace(/\.$/, "")}. Correct the file.`;
  return new WarehouseError("config.content_set", message, { cause });
}

const REMOVED = "removed.ndjson";
const identified = z.object({ id: z.string() });
const removal = z.object({ file: z.string(), id: z.string() });

/**
 * Applies changes to a content set: a folder with changed and new lines in files of the same names, and `removed.ndjson`
 * with removed ones: `{"file": "content.ndjson", "id": "..."}`.
 *
 * Writes the changed content set into a new folder. Changed lines keep their position; new ones come last. Throws
 * `config.content_set` for the removal of a missing line, or a line that cannot be read.
 */
export async function applyChanges(set: string, changes: string, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const changed = await readdir(changes);
  const removed = changed.includes(REMOVED) ? await parsedLines(changes, REMOVED, removal) : [];
  for (const name of await readdir(set)) {
    const gone = removed.filter(({ value }) => value.file === name).map(({ value }) => value.id);
    if (!changed.includes(name) && gone.length === 0) {
      await copyFile(join(set, name), join(out, name));
      continue;
    }
    const lines = new Map<string, string>();
    for (const folder of changed.includes(name) ? [set, changes] : [set]) {
      for (const { value, text } of await parsedLines(folder, name, identified)) lines.set(value.id, text);
    }
    for (const id of gone) {
      if (lines.delete(id)) continue;
      throw new WarehouseError(
        "config.content_set",
        `The changes cannot be applied: ${join(changes, REMOVED)}: ${name} has no ${id}.`,
      );
    }
    await writeFile(join(out, name), [...lines.values()].map((line) => `${line}\n`).join(""));
  }
}

type ContentType = ContentSetData["contentTypes"][number];
type CustomField = ContentSetData["customFields"][number];

/** A content type for the views. `json`: the object that all views show. */
function indexType({ file_format, ...shown }: ContentType) {
  return { bodyType: shown.body_type, fileFormat: file_format, json: JsonText.of(shown) };
}

/** A user in the three forms that views show. */
function userViews(user: User) {
  const { name_sort, removed, role, group_ids, ...plain } = user;
  const { superadmin, ...dynamic } = plain;
  const extended = { ...dynamic, superadmin, name_sort, removed, role, group_ids };
  return {
    user,
    /** `last_updated_by` in full. */
    plain: JsonText.of(plain),
    /** `author_details` and `creator_details` of the dynamic set, without `superadmin`. */
    dynamic: JsonText.of(dynamic),
    /** `last_updated_by_details` and `owner_details` in full. */
    extended: JsonText.of(extended),
  };
}

/** A content set in memory. */
export type ContentSet = ReturnType<typeof assembleContentSet>;

/** Throws `config.content_set` for an ID or a slug that two documents have. */
export function assembleContentSet(data: ContentSetData) {
  const { contentTypes, users, campaigns, customFields, destinations, tokens, instance } = data;
  return {
    ...indexDocuments(data.documents),
    contentTypes: new Map(contentTypes.map((type) => [type.id, indexType(type)])),
    users: new Map(users.map((user) => [user.id, userViews(user)])),
    campaigns: new Map(campaigns.map((campaign) => [campaign.id, JsonText.of(campaign)])),
    fields: indexFields(customFields, contentTypes, instance.id),
    destinations,
    /** Token to user ID. */
    tokens: new Map(tokens.map(({ token, user_id }) => [token, user_id])),
    instance,
  };
}

/**
 * The documents of a set, and `times - 1` copies of each with other IDs, slugs and times, for trials with many items.
 * Throws as {@link assembleContentSet}.
 */
export function repeatContentSet(set: ContentSet, times: number): ContentSet {
  const copies = Array.from({ length: times }, (_, copy) => set.documents.map((each) => copyOf(each, copy)));
  return { ...set, ...indexDocuments(copies.flat()) };
}

/** Copy 0 is the document itself. Each further copy was created and edited a second earlier. */
function copyOf(document: Document, copy: number): Document {
  if (copy === 0) return document;
  const { id, slug, created_at, updated_at } = document;
  return {
    ...document,
    id: `${id}-${copy}`,
    slug: `${slug}-${copy}`,
    created_at: earlier(created_at, copy),
    updated_at: earlier(updated_at, copy),
  };
}

/** The instant moved back, with its fraction of a second. A text that is not an instant stays as it is. */
function earlier(instant: string, seconds: number): string {
  const ms = Date.parse(`${instant.slice(0, WHOLE_SECONDS)}Z`);
  if (Number.isNaN(ms)) return instant;
  return new Date(ms - seconds * 1000).toISOString().slice(0, WHOLE_SECONDS) + instant.slice(WHOLE_SECONDS);
}

const WHOLE_SECONDS = "YYYY-MM-DDTHH:MM:SS".length;

/** `documents`: in creation order. `find` returns the document with an ID or, failing that, a slug. */
function indexDocuments(documents: readonly Document[]) {
  const [byId, bySlug] = (["id", "slug"] as const).map((what) => {
    const positions = new Map<string, number>();
    for (const [position, { [what]: key }] of documents.entries()) {
      const first = positions.get(key);
      if (first !== undefined)
        throw new WarehouseError(
          "config.content_set",
          `Documents ${first + 1} and ${position + 1} of the content set have the same ${what} ${JSON.stringify(key)}; each must have its own.`,
        );
      positions.set(key, position);
    }
    return positions;
  });
  const find = (key: string) => documents[byId?.get(key) ?? bySlug?.get(key) ?? -1];
  return { documents, find };
}

/** Indexes the custom field definitions of a content set. */
function indexFields(definitions: readonly CustomField[], types: readonly ContentType[], instanceId: string) {
  const all = definitions.map((definition) => indexField(definition, instanceId));
  const carriedBy = (typeId: string) =>
    new Set(all.filter(({ definition }) => definition.content_types?.includes(typeId) ?? true));
  return {
    all,
    byId: new Map(all.map((field) => [field.definition.id, field])),
    /** Content type ID to the fields of its items, in source order. */
    byContentType: new Map(types.map(({ id }) => [id, carriedBy(id)])),
    /** Fields of items whose content type is not in the set. */
    carriedByAll: new Set(all.filter(({ definition }) => definition.content_types === undefined)),
  };
}

/** A custom field definition with the lookup tables that views need. */
export type FieldEntry = ReturnType<typeof indexField>;

function indexField(definition: CustomField, instanceId: string) {
  const values = definition.formatted_select_values;
  const texts = (values ?? []).map(({ id, value }) => [value, id] as const);
  const displays = (values ?? []).map(({ id, display }) => [display, id] as const);
  return {
    definition,
    /** Value ID to the text that it is shown as; undefined for fields without select values. */
    textById: values && new Map(values.map(({ id, value }) => [id, value])),
    /** Text of a select value (`value` before `display`) to its ID; the first in source order. */
    idByText: new Map([...texts, ...displays].reverse()), // a map keeps the last of several entries
    /** IDs in the field's mappings, which may not be select values of the field. */
    mappedIds: new Set(definition.mappings.flatMap((mapping) => mapping.values.map((v) => v.value_id))),
    isFile: definition.field_type === "file" || definition.field_type === "image",
    /** Entry of `custom_fields` in full, as JSON up to the place of its value. */
    fullEntry: `${JSON.stringify(fullEntry(definition, instanceId)).slice(0, -1)},"value":`,
  };
}

const fullFields = z.object(fullCustomField.shape);

function fullEntry(definition: CustomField, instanceId: string): object {
  const values = definition.formatted_select_values;
  return fullFields.parse({
    ...definition,
    ...(values && { select_values: values.map(({ value }) => value) }),
    select_value_ids: selectValueIds(definition),
    archived_value_ids: (values ?? []).filter(({ archived }) => archived).map(({ id }) => id),
    newsroom_id: instanceId,
  });
}

/** Value ID to text; `null` for date fields, an empty object for others without select values. */
function selectValueIds({ field_type, formatted_select_values }: CustomField): object | null {
  if (formatted_select_values) {
    return Object.fromEntries(formatted_select_values.map(({ id, value }) => [id, value]));
  }
  return field_type === "date" ? null : {};
}
