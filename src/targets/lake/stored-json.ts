/** Small JSON objects of the lake. */
import type { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import type { Store } from "../store/store.ts";

/** The object of a key; null: there is none. Throws `target.refused` where it is of another form. */
export async function readJson<Form>(store: Store, key: string, form: z.ZodType<Form>): Promise<Form | null> {
  const bytes = await store.get(key);
  if (bytes === null) return null;
  const parsed = form.safeParse(parseIfJson(bytes.toString()));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw changedByHand(store, key, [...(issue?.path ?? []), issue?.message ?? "unexpected"].join(" "));
}

export function jsonBytes(content: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`);
}

export function changedByHand({ address }: Store, key: string, why: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} in ${address} cannot be read (${why}): it was changed by hand, or by a newer version; put it back, update content-warehouse, or deliver under another instance name.`,
  );
}
