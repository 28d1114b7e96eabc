/** Settings of the personal-data policy. */
import type { PrepareSettings } from "../src/raw/prepare.ts";

export const HASH_KEY = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
export const KEEP: PrepareSettings = {
  policy: "keep",
  hashKey: undefined,
  fields: { names: [], customFields: [] },
  aliases: {},
};
export const DROP: PrepareSettings = { ...KEEP, policy: "drop" };
export const HASH: PrepareSettings = { ...KEEP, policy: "hash", hashKey: HASH_KEY };
