/** Tables that are not the package's: what must hold of them before anything is built. */
import { hint } from "../common/nearest.ts";
import { isObject } from "../common/objects.ts";
import { isArrayOf, isText } from "../common/options.ts";
import { DATA_TABLES } from "./all.ts";
import { COLUMN_TYPES } from "./declare.ts";
import { VIEWS } from "./views.ts";

/** Macros of the package, by name. */
export const MACRO_NAMES: readonly string[] = [
  "mapped_values_as_of",
  "payloads_as_of",
  "payload_as_of",
  "mapped_value_changes",
];
/** What stands beside the tables while they are built and asked. */
const TAKEN = ["run", "mapping_targets", "mapping_inputs", "mapping_answers", "constructor"];
const TAKEN_BEGINNINGS = ["run_", "before_", "history_", "previous_", "made_"];

const NAME = /^[a-z][a-z0-9_]*$/;

/** What is wrong with a table of a user's own; none: it can be built. */
export function customTableFaults(table: unknown): string[] {
  if (!isObject(table)) return ["it is no table"];
  const { name, comment, references, rows } = table;
  const faults = [
    ...nameFaults(name),
    ...unless(typeof comment === "string", "its comment is not a text"),
    ...unless(Array.isArray(references) && isObject(rows), "it is no table: references or rows are missing"),
  ];
  if (!Array.isArray(table.columns)) return [...faults, "its columns are no list"];
  const columns = Array.from(table.columns);
  const strange = columns.flatMap((column, place) => columnFaults(column, place));
  if (strange.length > 0) return [...faults, ...strange];
  const names = columns.map((column): string => column.name);
  return [
    ...faults,
    ...repeated(names.map((each) => each.toLowerCase())).map(
      (each) => `two of its columns are called ${each}`,
    ),
    ...keyFaults(table.key, columns),
  ];
}

function nameFaults(name: unknown): string[] {
  if (typeof name !== "string") return ["its name is not a text"];
  if (!NAME.test(name)) return ["its name is not in lower-case letters, digits and _"];
  if (VIEWS.some((view) => view.name === name) || MACRO_NAMES.includes(name))
    return [`${name} is the name of a view or macro of the package`];
  if (DATA_TABLES.some((table) => table.name === name))
    return [`${name} is the name of a table of the package`];
  const beginning = TAKEN_BEGINNINGS.find((each) => name.startsWith(each));
  if (beginning !== undefined) return [`names that begin with ${beginning} are the package's own`];
  return TAKEN.includes(name) ? [`${name} is a name of the package's own`] : [];
}

function columnFaults(column: unknown, place: number): string[] {
  const isColumn =
    isObject(column) &&
    COLUMN_TYPES.some((type) => type === column.type) &&
    typeof column.comment === "string" &&
    typeof column.nullable === "boolean" &&
    Array.isArray(column.origins) &&
    isArrayOf(column.faults, isText);
  if (!isColumn)
    return [`columns[${place}] is no column: call its factory, as in text("title", { comment: "Title." })`];
  const { name, faults, make } = column;
  const fits = typeof name === "string" && NAME.test(name) && name !== "constructor";
  return [
    ...unless(fits, `the name of columns[${place}] is not in lower-case letters, digits and _`),
    ...(faults as readonly string[]),
    ...unless(make === undefined, `its column ${name} has make, but its values are those of the rows`),
  ];
}

function keyFaults(
  key: unknown,
  columns: readonly { readonly name: string; readonly nullable: boolean }[],
): string[] {
  if (!isArrayOf(key, isText) || key.length === 0) return ["its key is no list of columns"];
  const names = columns.map(({ name }) => name);
  const strange = key.flatMap((each) => {
    const column = columns.find(({ name }) => name === each);
    if (column === undefined)
      return [`its key has ${JSON.stringify(each)}, which is no column${hint(each, names)}`];
    return column.nullable ? [`its key has the column ${each}, which is not required`] : [];
  });
  return [...new Set(strange), ...repeated(key).map((each) => `its key has ${each} twice`)];
}

/** A fault, unless all is well. */
export function unless(fits: boolean, fault: string): string[] {
  return fits ? [] : [fault];
}

/** Names that a list has more than once. */
export function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))];
}
