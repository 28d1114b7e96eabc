import { z } from "zod";

/** Answer of a single-item request as our service gives it. */
export function singleEnvelope<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ response: item });
}
