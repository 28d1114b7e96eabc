/**
 * JSON files with a checksum: `{"sha256":"…","content":…}`, where the SHA-256 is that of the content's JSON text. A
 * damaged file can still be JSON of the right form.
 */
import { hash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { z } from "zod";
import { asWarehouseError, isOfTheDisk } from "./errors.ts";

function sealed(content: unknown): Buffer {
  const text = JSON.stringify(content);
  return Buffer.from(`{"sha256":"${hash("sha256", text)}","content":${text}}`);
}

/** Writes a file that only its owner can read, completely or not at all. */
export async function writeSealed(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.tmp`;
  await writeFile(temporary, sealed(content), { mode: 0o600 });
  await rename(temporary, file);
}

/** Reads a file; `undefined` if it is missing, damaged or of another form. Throws errors of the disk. */
export async function readSealed<Form>(file: string, form: z.ZodType<Form>): Promise<Form | undefined> {
  const bytes = await bytesOf(file);
  if (bytes === undefined) return undefined;
  try {
    const { content }: { content?: unknown } = JSON.parse(bytes.toString());
    return sealed(content).equals(bytes) ? form.safeParse(content).data : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes of a file; `undefined` if it is missing or unreadable. Throws errors of the disk. */
export async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (thrown) {
    if (isOfTheDisk(asWarehouseError(thrown))) throw thrown;
    return undefined;
  }
}
