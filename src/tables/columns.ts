/** Columns of users' own tables. Their options are checked, since a pipeline may be plain JavaScript. */
import { z } from "zod";
import { API_FIELD_NAMES, type ApiField, isApiField } from "../api/fields.ts";
import { hint } from "../common/nearest.ts";
import { checkedOptions } from "../common/options.ts";
import { shown } from "../common/shown.ts";
import { type ColumnOptions, type ColumnType, column, EMPTY_DEFAULTS, WIRE_FORMATS } from "./declare.ts";

const columnOptions = z.strictObject({
  from: z.array(z.string().superRefine(assertApiField)).optional(),
  comment: z.string(),
  required: z.boolean().optional(),
  personal: z.boolean().optional(),
  format: z.enum(WIRE_FORMATS).optional(),
  emptyDefault: z.enum(EMPTY_DEFAULTS).optional(),
});

function assertApiField(field: string, { addIssue }: { readonly addIssue: (issue: string) => void }): void {
  if (!isApiField(field)) addIssue(`"${field}" is no API field${hint(field, API_FIELD_NAMES)}`);
}

/** Makes columns of a type. They throw `config.invalid` for options that a column does not have. */
const of =
  <const Type extends ColumnType>(type: Type) =>
  <const Name extends string, const Field extends ApiField = never, const Required extends boolean = false>(
    name: Name,
    options: ColumnOptions<Field, Required>,
  ) => {
    checkedOptions(`column ${shown(name)}`, columnOptions, options);
    return column(name, type, options);
  };

export const text = of("text");
export const boolean = of("boolean");
export const integer = of("integer");
export const bigint = of("bigint");
export const double = of("double");
export const timestamp = of("timestamp");
export const date = of("date");
export const json = of("json");
