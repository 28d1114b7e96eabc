/** Reads a content set from a folder. */
import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { assembleContentSet, type ContentSet } from "./assemble-set.ts";
import { contentSetSchema, type Document } from "./content-set.ts";

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
export async function parsedLines<T>(folder: string, name: string, schema: z.ZodType<T>) {
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
