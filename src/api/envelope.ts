/** Schemas of responses around their items. */
import { z } from "zod";
import { integer } from "./values.ts";

export const pagination = z
  .looseObject({
    previous: integer.nullable().optional().describe("Page number; null on the first page."),
    next: integer.nullable().optional().describe("Page number; null on the last page."),
    current: integer.describe("This page, counted from 1."),
    per_page: integer.describe("Items a page, as the service applied it."),
    count: integer.describe("Items in total."),
    pages: integer.describe("Pages in total."),
  })
  .describe("Where this page stands in the list.");
export type Pagination = z.infer<typeof pagination>;

/** Response of a listing. `count` is the number of rows on the page, at some services the total: nothing relies on it. */
export function listEnvelope<Item extends z.ZodType>(item: Item) {
  return z.looseObject({ response: z.array(item), count: integer.optional(), pagination });
}
