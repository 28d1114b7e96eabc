/** Reads a content set from a folder. */
import { isUtf8 } from "node:buffer";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { assembleContentSet, type ContentSet, DocumentOutline, type DocumentStore } from "./assemble-set.ts";
import { contentSetSchema, type Document, type ServedDefinitions } from "./content-set.ts";

/**
 * Reads a content set and checks every line. Documents stay in their file, which is open until the set is closed. Throws
 * `config.content_set` with file and line for anything that cannot be served.
 */
export async function loadContentSet(folder: string): Promise<ContentSet> {
  const shared = await loadShared(folder);
  const file = await openFile(folder, "content.ndjson");
  try {
    const outline = new DocumentOutline();
    const lines = await indexDocuments(file, join(folder, "content.ndjson"), outline);
    return assembleContentSet(fileStore(file, lines), outline, shared);
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

async function loadShared(folder: string): Promise<ServedDefinitions> {
  const { contentType, user, campaign, customField, destination, tokens, instance } = contentSetSchema;
  return {
    contentTypes: await readLines(folder, "content_types.ndjson", contentType),
    users: await readLines(folder, "users.ndjson", user),
    campaigns: await readLines(folder, "campaigns.ndjson", campaign),
    customFields: await readLines(folder, "custom_fields.ndjson", customField),
    destinations: await readLines(folder, "destinations.ndjson", destination),
    tokens: await readWhole(folder, "tokens.json", tokens),
    instance: await readWhole(folder, "instance.json", instance),
  };
}

async function readLines<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T[]> {
  return Array.fromAsync(parsedLines(folder, name, schema), ({ value }) => value);
}

/** Values and texts of the lines of a file. Throws `config.content_set` with the line that cannot be read. */
export async function* parsedLines<T>(folder: string, name: string, schema: z.ZodType<T>) {
  const file = await openFile(folder, name);
  try {
    for await (const { bytes, number } of linesOf(file))
      yield {
        value: parseAs(schema, bytes, `${join(folder, name)}, line ${number}`),
        text: bytes.toString(),
      };
  } finally {
    await file.close();
  }
}

async function readWhole<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T> {
  const path = join(folder, name);
  const bytes = await readFile(path).catch((cause: unknown) => refuseFolder(folder, name, cause));
  return parseAs(schema, bytes, path);
}

/** Byte offsets and lengths of the documents. Each is parsed and checked once; memory keeps its outline. */
async function indexDocuments(file: FileHandle, path: string, outline: DocumentOutline) {
  const offsets: number[] = [];
  const lengths: number[] = [];
  for await (const { bytes, number, offset } of linesOf(file)) {
    const document: Document = parseAs(contentSetSchema.document, bytes, `${path}, line ${number}`);
    outline.add(document);
    offsets.push(offset);
    lengths.push(bytes.length);
  }
  return { offsets, lengths };
}

/** Documents in their file, which the operating system caches: 16 bytes of memory each, and one read for a page. */
function fileStore(
  file: FileHandle,
  { offsets, lengths }: Awaited<ReturnType<typeof indexDocuments>>,
): DocumentStore {
  const lineAt = (position: number) => {
    const [start, length] = [offsets[position], lengths[position]];
    if (start === undefined || length === undefined)
      throw new RangeError(`No document stands at position ${position}.`);
    return { start, end: start + length };
  };
  const readRun = async (positions: readonly number[]) => {
    const lines = positions.map(lineAt);
    const start = lines[0]?.start ?? 0;
    const bytes = Buffer.allocUnsafe((lines.at(-1)?.end ?? start) - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    if (bytesRead < bytes.length) throw new Error("content.ndjson became shorter while it was being served.");
    return lines.map(
      (line): Document => JSON.parse(bytes.toString("utf8", line.start - start, line.end - start)),
    );
  };
  return {
    count: offsets.length,
    async read(positions) {
      const documents: Document[] = [];
      for (const run of consecutiveRuns(positions)) documents.push(...(await readRun(run)));
      return documents;
    },
    close: () => file.close(),
  };
}

function consecutiveRuns(positions: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const position of positions) {
    const last = runs.at(-1);
    if (last?.at(-1) === position - 1) last.push(position);
    else runs.push([position]);
  }
  return runs;
}

function openFile(folder: string, name: string): Promise<FileHandle> {
  return open(join(folder, name)).catch((cause: unknown) => refuseFolder(folder, name, cause));
}

function refuseFolder(folder: string, name: string, cause: unknown): never {
  throw new WarehouseError(
    "config.content_set",
    `The content set ${folder} has no readable ${name}; name another folder, or leave it out to serve the sample.`,
    { cause },
  );
}

function parseAs<T>(schema: z.ZodType<T>, bytes: Buffer, where: string): T {
  if (!isUtf8(bytes)) throw unreadable(where, "it is not UTF-8 text");
  try {
    return schema.parse(JSON.parse(bytes.toString()));
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

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Lines of a file, without blank ones and line ends. `number` counts from 1; `offset` is in bytes. */
async function* linesOf(file: FileHandle) {
  let pending: Buffer = Buffer.alloc(0);
  let offset = 0;
  let number = 0;
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    position += bytesRead;
    const atEnd = bytesRead === 0;
    pending = Buffer.concat([pending, buffer.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = lineEnd(pending, start, atEnd); end !== -1; end = lineEnd(pending, start, atEnd)) {
      number += 1;
      const bytes = pending.subarray(start, end);
      if (!isBlank(bytes)) yield { bytes, number, offset: offset + start };
      start = end + 1;
    }
    if (atEnd) return;
    pending = pending.subarray(start);
    offset += start;
  }
}

/** End of the line that begins at `start`; -1 if it is not in these bytes. */
function lineEnd(bytes: Buffer, start: number, atEnd: boolean): number {
  const newline = bytes.indexOf(NEWLINE, start);
  if (newline !== -1 || !atEnd) return newline;
  return start < bytes.length ? bytes.length : -1;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
