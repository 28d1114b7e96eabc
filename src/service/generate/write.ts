import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";

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
 * The folder that a content set is written to: created if it is missing, and refused (`config.output`) if it holds
 * anything else than a content set or the remains of an unfinished one.
 */
export class ContentSetFolder {
  readonly #path: string;
  readonly #written: FileName[] = [];

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(path: string): Promise<ContentSetFolder> {
    let entries: string[];
    try {
      await mkdir(path, { recursive: true });
      entries = await readdir(path);
    } catch (cause) {
      throw new WarehouseError(
        "config.output",
        `The folder ${path} cannot be written to; choose another with --out.`,
        { cause },
      );
    }
    const known = new Set<string>(FILES.flatMap((name) => [name, partial(name)]));
    const whole = entries.includes("content.ndjson") && entries.includes("instance.json");
    const stranger = entries.find((entry) => !known.has(entry));
    if (stranger !== undefined && !whole) {
      throw new WarehouseError(
        "config.output",
        `The folder ${path} is not empty and is no content set (it has "${stranger}"); choose an empty folder with --out.`,
      );
    }
    return new ContentSetFolder(path);
  }

  /**
   * Writes a file under a temporary name. The next text is asked for only when the disk has taken those before it.
   * `onChunk` hears how many bytes the disk has taken.
   * @returns bytes of the file
   */
  async write(name: FileName, texts: Iterable<string>, onChunk?: (bytes: number) => void): Promise<number> {
    await using file = await open(join(this.#path, partial(name)), "w");
    let bytes = 0;
    for (const chunk of chunks(texts)) {
      const buffer = Buffer.from(chunk);
      await file.writeFile(buffer);
      bytes += buffer.length;
      onChunk?.(bytes);
    }
    await file.sync();
    this.#written.push(name);
    return bytes;
  }

  /** Gives every file its name. `instance.json` comes last and the old one goes first: a folder with it is whole. */
  async publish(): Promise<void> {
    await rm(join(this.#path, "instance.json"), { force: true });
    for (const name of this.#written) await rename(join(this.#path, partial(name)), join(this.#path, name));
  }

  /** Removes what was begun and not published. */
  async discard(): Promise<void> {
    for (const name of FILES) await rm(join(this.#path, partial(name)), { force: true });
  }
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
