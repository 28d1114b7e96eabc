/** Declares custom tables: column makers, and checks of a declaration. A pipeline may be plain JavaScript. */
import { z } from "zod";
import { apiFieldProblem } from "../api/fields.ts";
import { didYouMean } from "../common/nearest.ts";
import { parseForm, parseOptions } from "../common/parse-form.ts";
import { describeValue } from "../common/printable.ts";
import { DATA_TABLES } from "./all.ts";
import { COLUMN_TYPES, columnMakers, EMPTY_DEFAULTS, type Table, WIRE_FORMATS } from "./declare.ts";
import { MACRO_NAMES, VIEWS } from "./views.ts";

const apiField = z.string().superRefine((field, { addIssue }) => {
  const problem = apiFieldProblem(field);
  if (problem !== null) addIssue(problem);
});

const columnOptions = z.strictObject({
  from: z.array(apiField).optional(),
  comment: z.string(),
  required: z.boolean().optional(),
  personal: z.boolean().optional(),
  format: z.enum(WIRE_FORMATS).optional(),
  emptyDefault: z.enum(EMPTY_DEFAULTS).optional(),
});

/** Throw `config.invalid` for unknown options. */
export const { text, boolean, integer, bigint, double, timestamp, date, json } = columnMakers(
  (name, options) => parseOptions(`column ${describeValue(name)}`, columnOptions, options),
);

/** Names of temporary tables and views that steps use. */
const RESERVED_NAMES = ["run", "mapping_targets", "mapping_inputs", "mapping_answers"];
const RESERVED_PREFIXES = ["run_", "before_", "history_", "previous_", "made_"];

const name = z
  .string()
  .regex(/^(?!constructor$)[a-z][a-z0-9_]*$/, "expected lower-case letters, digits and _");

const column = z.object(
  {
    name,
    type: z.enum(COLUMN_TYPES),
    nullable: z.boolean(),
    comment: z.string(),
    origins: z.array(z.object({ resource: z.string(), path: z.string() })),
  },
  'expected a column, such as text("title", { comment: "Title." })',
);

const tableForm = z.object({
  name,
  comment: z.string(),
  stage: z.enum(["item", "query"]),
  key: z.array(z.string()).min(1),
  columns: z.array(column),
  references: z.array(z.object({ table: z.string(), columns: z.array(z.string()), to: z.array(z.string()) })),
  rows: z.object({ kind: z.literal("program") }),
});

/** Faults of a custom table; empty if it can be built. */
export function customTableFaults(table: Table): readonly string[] {
  const form = parseForm(tableForm, table);
  if ("faults" in form) return form.faults;
  const { key, columns } = form.value;
  const names = columns.map((each) => each.name);
  return [
    ...nameFaults(table.name),
    ...duplicatesIn(names).map((each) => `two of its columns are called ${each}`),
    ...key
      .filter((each) => !columns.some(({ name, nullable }) => name === each && !nullable))
      .map(
        (each) =>
          `its key has "${each}", which is no required column${names.includes(each) ? "" : didYouMean(each, names)}`,
      ),
    ...duplicatesIn(key).map((each) => `its key has ${each} twice`),
  ];
}

function nameFaults(name: string): string[] {
  if (VIEWS.some((view) => view.name === name) || MACRO_NAMES.includes(name))
    return [`${name} is the name of a view or macro of the package`];
  if (DATA_TABLES.some((table) => table.name === name))
    return [`${name} is the name of a table of the package`];
  const beginning = RESERVED_PREFIXES.find((each) => name.startsWith(each));
  if (beginning !== undefined) return [`names that begin with ${beginning} are the package's own`];
  return RESERVED_NAMES.includes(name) ? [`${name} is a name of the package's own`] : [];
}

export function duplicatesIn(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))];
}
