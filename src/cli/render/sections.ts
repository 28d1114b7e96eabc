/** Results of several parts, as tables on a screen, Markdown, JSON or CSV. */
import { count, counted } from "../../common/figures.ts";
import { markdownText } from "../../common/printable.ts";
import { type CsvOptions, cellText, csvLine, jsonRows, markdownRow } from "../../show/rows.ts";
import { drawFitting, drawInParts, type TextColumn, type TextTable } from "../../show/table.ts";
import { paragraph } from "../../show/terminal.ts";
import type { Row } from "../../storage/duckdb.ts";

/** Lists of columns are their names with a space between. */
export interface Section {
  /** Name in JSON. */
  readonly key: string;
  readonly title: string;
  /** Said in place of a table without rows; undefined: "none". */
  readonly none?: string;
  /** Columns of the whole result, in JSON and CSV. */
  readonly columns?: string;
  /** Columns for people, in the order shown. */
  readonly shown: string;
  /** Headings that only this section has, by column. */
  readonly headings?: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  /** Columns whose cells are not cut: people type them again. */
  readonly whole?: string;
  /** Leading columns that say what a row is, repeated where a table takes several parts; undefined: 1. */
  readonly keys?: number;
  /** Columns that a screen goes without where it is too narrow for all, the first of them first; then `keys` is not used. */
  readonly optional?: string;
  /** Rows that a screen gets; undefined: 20. */
  readonly limit?: number;
  /** Options of the form that has all rows; undefined: `--format json`. */
  readonly all?: string;
}

/** Headings of columns, where people read another name. */
const HEADINGS: Readonly<Record<string, string>> = {
  alike: "no payload change",
  causes: "cause",
  content_id: "item",
  custom_field: "field",
  custom_fields: "fields",
  entries_unused: "unused",
  external_field_name: "external name",
  external_value: "external value",
  external_value_after: "would send",
  external_value_before: "sends",
  field_type: "type",
  given_by: "given by",
  name_after: "new name",
  name_before: "name",
  shown: "change",
  unknown_value: "unknown",
};

function namesIn(columns = ""): string[] {
  return columns.split(" ").filter((name) => name !== "");
}

/** A destination that is known only by its ID is shown by it, and so is a field without a name. */
const STAND_IN: Readonly<Record<string, string>> = {
  destination: "destination_id",
  custom_field: "custom_field_id",
};

function shownText(row: Row, name: string): string {
  const value = row[name] ?? row[STAND_IN[name] ?? ""] ?? null;
  return typeof value === "bigint" ? count(Number(value)) : cellText(value);
}

function headingOf({ headings }: Section, name: string): string {
  return headings?.[name] ?? HEADINGS[name] ?? name;
}

function isNumber(section: Section, name: string): boolean {
  return section.rows.some((row) => typeof row[name] === "bigint" || typeof row[name] === "number");
}

export function sectionTables(sections: readonly Section[], width: number | undefined): string {
  return sections.map((section) => sectionTable(section, width)).join("\n");
}

function sectionTable(section: Section, width: number | undefined): string {
  const { title, none = "none", rows } = section;
  if (rows.length === 0) return `${title}: ${none}\n`;
  const shown = namesIn(section.shown);
  const whole = namesIn(section.whole);
  const columns = shown.map((name): TextColumn => {
    const align = isNumber(section, name) ? "right" : "left";
    return { name: headingOf(section, name), align, ...(whole.includes(name) ? { whole: true } : {}) };
  });
  const some = rows.slice(0, section.limit ?? 20).map((row) => shown.map((name) => shownText(row, name)));
  const text = drawn(section, { columns, rows: some }, width);
  const more = rows.length - some.length;
  const rest = `and ${counted(more, "more row")}; ${section.all ?? "--format json"} shows all`;
  return `${title}\n${text}${more > 0 ? paragraph("", rest, width) : ""}`;
}

function drawn({ shown, optional, keys = 1 }: Section, table: TextTable, width: number | undefined): string {
  if (optional === undefined) return drawInParts(table, keys, width);
  const places = namesIn(optional).map((name) => namesIn(shown).indexOf(name));
  const { text, leftOut } = drawFitting(table, places, width);
  if (leftOut.length === 0) return text;
  return (
    text + paragraph("", `left out: ${leftOut.join(", ")}; widen the terminal or pipe the output`, width)
  );
}

/** Headings of the second level with tables below, for a page or a ticket. */
export function sectionMarkdown(sections: readonly Section[]): string {
  const parts = sections.map((section) => {
    const { title, none = "none", rows } = section;
    if (rows.length === 0) return `## ${title}\n\n${none}\n`;
    const shown = namesIn(section.shown);
    const lines = [
      shown.map((name) => headingOf(section, name)),
      shown.map((name) => (isNumber(section, name) ? "---:" : "---")),
      ...rows.map((row) => shown.map((name) => markdownText(shownText(row, name)))),
    ];
    return `## ${title}\n\n${lines.map(markdownRow).join("")}`;
  });
  return parts.join("\n");
}

/** The sections by their names, a row a line, after further members. */
export function sectionJson(
  head: object,
  sections: readonly Pick<Section, "key" | "columns" | "rows">[],
): string {
  const members = [
    ...Object.entries(head).map(([key, value]) => [key, JSON.stringify(value)]),
    ...sections.map(({ key, columns, rows }) => [key, jsonRows(rows, columns?.split(" "))]),
  ];
  return `{${members.map(([key, json]) => `"${key}":${json}`).join(",\n")}}\n`;
}

export function sectionCsv({ columns, rows }: Section, options: CsvOptions): string {
  const names = namesIn(columns);
  const lines = rows.map((row) =>
    csvLine(
      names.map((name) => row[name] ?? null),
      options,
    ),
  );
  return [csvLine(names, options), ...lines].join("");
}
