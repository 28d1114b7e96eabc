/** Column makers of custom tables. They check their options, since a pipeline may be plain JavaScript. */
import { z } from "zod";
import { API_FIELD_NAMES, isApiField } from "../api/fields.ts";
import { didYouMean } from "../common/nearest.ts";
import { parseOptions } from "../common/parse-form.ts";
import { describeValue } from "../common/printable.ts";
import { columnMakers, EMPTY_DEFAULTS, WIRE_FORMATS } from "./declare.ts";

const columnOptions = z.strictObject({
  from: z.array(z.string().superRefine(assertApiField)).optional(),
  comment: z.string(),
  required: z.boolean().optional(),
  personal: z.boolean().optional(),
  format: z.enum(WIRE_FORMATS).optional(),
  emptyDefault: z.enum(EMPTY_DEFAULTS).optional(),
});

function assertApiField(field: string, { addIssue }: { readonly addIssue: (issue: string) => void }): void {
  if (!isApiField(field)) addIssue(`"${field}" is no API field${didYouMean(field, API_FIELD_NAMES)}`);
}

/** Throw `config.invalid` for unknown options. */
export const { text, boolean, integer, bigint, double, timestamp, date, json } = columnMakers(
  (name, options) => parseOptions(`column ${describeValue(name)}`, columnOptions, options),
);
