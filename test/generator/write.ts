import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../../src/common/errors.ts";

/** In the order in which they get their names: a folder that has the last is whole. */
const FILES = [
  "content.ndjson",
  "content_types.ndjson",
  "users.ndjson",
  "campaigns.ndjson",
  "custom_fields.ndjson",
  "destinations.ndjson",
  "tokens.json",
  "instance.json",
] as const;
export type FileName = (typeof FILES)[number];

/** Text is handed to the disk in pieces of about this size; nothing more is held. */
const CHUNK_CHARACTERS = 1 << 20;

/**
 * Makes the folder for a content set. Throws `config.output` where it cannot be made, or holds anything else than a
 * content set or the remains of an unfinished one.
 */
export async function prepareFolder(path: string): Promise<void> {
  const entries = await mkdir(path, { recursive: true })
    .then(() => readdir(path))
    .catch((cause: unknown) => {
      const message = `The folder ${path} cannot be written to; choose another with --out.`;
      throw new WarehouseError("config.output", message, { cause });
    });
  const known = new Set<string>(FILES.flatMap((name) => [name, partial(name)]));
  const whole = entries.includes("content.ndjson") && entries.includes("instance.json");
  const stranger = entries.find((entry) => !known.has(entry));
  if (stranger !== undefined && !whole) {
    throw new WarehouseError(
      "config.output",
      `The folder ${path} is not empty and is no content set (it has "${stranger}"); choose an empty folder with --out.`,
    );
  }
}

/**
 * Writes a file under a temporary name. The next text is asked for only when the disk has taken those before it.
 * `onChunk` hears how many bytes the disk has taken.
 * @returns bytes of the file
 */
export async function writePartial(
  path: string,
  name: FileName,
  texts: Iterable<string>,
  onChunk?: (bytes: number) => void,
): Promise<number> {
  await using file = await open(join(path, partial(name)), "w");
  let bytes = 0;
  for (const chunk of chunks(texts)) {
    const buffer = Buffer.from(chunk);
    await file.writeFile(buffer);
    bytes += buffer.length;
    onChunk?.(bytes);
  }
  await file.sync();
  return bytes;
}

/** Gives every file its name, in the place of an old one. */
export async function publish(path: string): Promise<void> {
  await rm(join(path, "instance.json"), { force: true });
  for (const name of FILES) await rename(join(path, partial(name)), join(path, name));
}

/** Removes what was begun and not published. */
export async function discard(path: string): Promise<void> {
  for (const name of FILES) await rm(join(path, partial(name)), { force: true });
}

function* chunks(texts: Iterable<string>): Generator<string> {
  let waiting = "";
  for (const text of texts) {
    waiting += text;
    if (waiting.length < CHUNK_CHARACTERS) continue;
    yield waiting;
    waiting = "";
  }
  yield waiting;
}

function partial(name: FileName): string {
  return `.${name}.partial`;
}
