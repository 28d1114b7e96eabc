/**
 * JSON files that show whether they are as they were written: `{"sha256":"…","content":…}`, the SHA-256 being that of
 * the content's JSON text. A damaged file may well be JSON of the right form, so the form proves nothing.
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

/** Writes a file for its owner alone, complete or not at all. */
export async function writeSealed(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.tmp`;
  await writeFile(temporary, sealed(content), { mode: 0o600 });
  await rename(temporary, file);
}

/** Undefined where the file is missing, is not as it was written, or holds something else. Errors: those of the disk. */
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

/** Undefined where there is no file that can be read. Errors: those of the disk. */
export async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (thrown) {
    if (isOfTheDisk(asWarehouseError(thrown))) throw thrown;
    return undefined;
  }
}
