/**
 * JSON files that say themselves whether they are as they were written: `{"sha256":"…","content":…}`, the SHA-256 being
 * that of the bytes of the content. A damaged file may well be JSON of the right form, so the form proves nothing.
 */
import { hash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { z } from "zod";
import { asWarehouseError } from "./errors.ts";

const END = "}";

function beginning(sha256: string): string {
  return `{"sha256":"${sha256}","content":`;
}

const BEGINNING_BYTES = beginning("0".repeat(64)).length;

/** Writes a file for its owner alone, complete or not at all. */
export async function writeSealed(file: string, content: unknown): Promise<void> {
  const text = JSON.stringify(content);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.tmp`;
  await writeFile(temporary, `${beginning(hash("sha256", text))}${text}${END}`, { mode: 0o600 });
  await rename(temporary, file);
}

/** Undefined where the file is missing, is not as it was written, or holds something else. Errors: those of the disk. */
export async function readSealed<Form>(file: string, form: z.ZodType<Form>): Promise<Form | undefined> {
  const bytes = await bytesOf(file);
  if (bytes === undefined) return undefined;
  const content = bytes.subarray(BEGINNING_BYTES, -END.length);
  const around = beginning(hash("sha256", content)) + END;
  const found =
    bytes.toString("latin1", 0, BEGINNING_BYTES) + bytes.toString("latin1", bytes.length - END.length);
  if (found !== around) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch {
    return undefined;
  }
  return form.safeParse(value).data;
}

/** Undefined where there is no file that can be read. Errors: those of the disk. */
export async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (thrown) {
    if (asWarehouseError(thrown).code === "disk.io") throw thrown;
    return undefined;
  }
}
