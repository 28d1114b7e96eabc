import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  Campaign,
  ContentType,
  CustomField,
  Document,
  ServedDestination,
  ServedInstance,
  Token,
  User,
} from "../../src/service/content-set.ts";

/**
 * A content set's folder, read line by line. Of the service it takes the types of the lines, which are no code; the
 * rest of this folder works out what an export of the set must hold, without any code that makes one.
 */
export interface ContentSetFolder {
  readonly documents: () => Generator<Document>;
  readonly types: ReadonlyMap<string, ContentType>;
  readonly users: ReadonlyMap<string, User>;
  readonly campaigns: ReadonlyMap<string, Campaign>;
  /** In source order. */
  readonly fields: readonly CustomField[];
  readonly destinations: readonly ServedDestination[];
  readonly tokens: readonly Token[];
  readonly instance: ServedInstance;
}

export function readFolder(folder: string): ContentSetFolder {
  return {
    documents: () => lines<Document>(join(folder, "content.ndjson")),
    types: byId(lines<ContentType>(join(folder, "content_types.ndjson"))),
    users: byId(lines<User>(join(folder, "users.ndjson"))),
    campaigns: byId(lines<Campaign>(join(folder, "campaigns.ndjson"))),
    fields: [...lines<CustomField>(join(folder, "custom_fields.ndjson"))],
    destinations: [...lines<ServedDestination>(join(folder, "destinations.ndjson"))],
    tokens: parse(readFileSync(join(folder, "tokens.json"), "utf8")),
    instance: parse(readFileSync(join(folder, "instance.json"), "utf8")),
  };
}

function* lines<T>(file: string): Generator<T> {
  const bytes = readFileSync(file);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf("\n", start);
    const stop = end === -1 ? bytes.length : end;
    const line = bytes.toString("utf8", start, stop);
    if (line.trim() !== "") yield parse<T>(line);
    start = stop + 1;
  }
}

function parse<T>(text: string): T {
  return JSON.parse(text);
}

function byId<T extends { id: string }>(things: Iterable<T>): Map<string, T> {
  const found = new Map<string, T>();
  for (const thing of things) found.set(thing.id, thing);
  return found;
}
