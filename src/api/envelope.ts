import { z } from "zod";
import { integer } from "./values.ts";

export const pagination = z
  .looseObject({
    previous: integer.nullable().optional().meta({ description: "Page number; null on the first page." }),
    next: integer.nullable().optional().meta({ description: "Page number; null on the last page." }),
    current: integer.meta({ description: "This page, counted from 1." }),
    per_page: integer.meta({ description: "Items a page, as the service applied it." }),
    count: integer.meta({ description: "Items in total." }),
    pages: integer.meta({ description: "Pages in total." }),
  })
  .meta({ description: "Where this page stands in the list." });
export type Pagination = z.infer<typeof pagination>;

/** Answer of a list: `count` is the rows on this page, at some services the total, so nothing relies on it. */
export function listEnvelope<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ response: z.array(item), count: integer.optional(), pagination });
}

/** Answer of a single-item request as our service gives it. */
export function singleEnvelope<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ response: item });
}

/** Answer of a single-item request as a client accepts it: in an envelope, or bare. `singleOf` takes the item out. */
export function singleAnswer<Item extends z.ZodObject>(item: Item) {
  return z.union([singleEnvelope(item), item]);
}

/** Answer of a lookup as a client accepts it: a bare array, or in an envelope. `rowsOf` takes the rows out. */
export function lookupAnswer<Item extends z.ZodObject>(item: Item) {
  return z.union([z.array(item), z.looseObject({ response: z.array(item) })]);
}

/** The rows of a lookup's answer, whichever envelope it came in. */
export function rowsOf<Item>(answer: readonly Item[] | { response: readonly Item[] }): readonly Item[] {
  return "response" in answer ? answer.response : answer;
}

/** The item of a single-item answer, whichever envelope it came in. */
export function singleOf<Item extends object>(answer: Item | { response: Item }): Item {
  return hasResponse(answer) ? answer.response : answer;
}

function hasResponse<Item extends object>(answer: Item | { response: Item }): answer is { response: Item } {
  return "response" in answer && typeof answer.response === "object" && answer.response !== null;
}

export const errorBody = z
  .looseObject({ error: z.string().meta({ description: "One sentence." }) })
  .meta({ description: "Why the request was refused." });
export type ErrorBody = z.infer<typeof errorBody>;
