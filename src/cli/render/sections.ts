/** Results of several parts, as tables on a screen, Markdown, JSON or CSV. */

import { csvRow, safeText } from "../../common/csv.ts";
import { count, counted } from "../../common/figures.ts";
import type { Row } from "../../storage/duckdb.ts";
import { cellText, jsonObject } from "./cells.ts";
import { drawInParts, type TextColumn } from "./table.ts";
import { printableLine, printableText } from "./terminal.ts";

export interface Section {
  /** Name in JSON. */
  readonly key: string;
  readonly title: string;
  /** Said in place of a table without rows. */
  readonly none: string;
  /** Columns of the whole result, in JSON and CSV. */
  readonly columns: readonly string[];
  /** Columns for people, in the order shown: name, and heading where it is another. */
  readonly shown: readonly (readonly [name: string, heading?: string])[];
  readonly rows: readonly Row[];
  /** Columns whose cells are not cut: people type them again. */
  readonly whole?: readonly string[];
  /** Leading columns that say what a row is, repeated where a table takes several parts; undefined: 1. */
  readonly keys?: number;
  /** Rows that a screen gets; undefined: 20. */
  readonly limit?: number;
}

/** Rows of a section that a screen gets unless it says otherwise; the other forms have them all. */
const ROWS_SHOWN = 20;

/** A destination that is known only by its ID is shown by it, and so is a field without a name. */
const STAND_IN: Readonly<Record<string, string>> = {
  destination: "destination_id",
  custom_field: "custom_field_id",
};

function shownText(row: Row, name: string): string {
  const value = row[name] ?? row[STAND_IN[name] ?? ""] ?? null;
  return typeof value === "bigint" ? count(Number(value)) : cellText(value);
}

function isNumber(section: Section, name: string): boolean {
  return section.rows.some((row) => typeof row[name] === "bigint" || typeof row[name] === "number");
}

/** A title with its table below, for each section. */
export function sectionTables(sections: readonly Section[], width: number | undefined): string {
  return sections.map((section) => sectionTable(section, width)).join("\n");
}

function sectionTable(section: Section, width: number | undefined): string {
  const { title, none, rows } = section;
  if (rows.length === 0) return `${title}: ${none}\n`;
  const columns = section.shown.map(([name, heading = name]): TextColumn => {
    const align = isNumber(section, name) ? "right" : "left";
    return { name: heading, align, ...(section.whole?.includes(name) ? { whole: true } : {}) };
  });
  const some = rows
    .slice(0, section.limit ?? ROWS_SHOWN)
    .map((row) => section.shown.map(([name]) => shownText(row, name)));
  const text = drawInParts({ columns, rows: some }, section.keys ?? 1, width);
  const more = rows.length - some.length;
  return `${title}\n${text}${more > 0 ? `and ${counted(more, "more row")}; other formats show all of them\n` : ""}`;
}

/** Headings of the second level with tables below, for a page or a ticket. */
export function sectionMarkdown(sections: readonly Section[]): string {
  const parts = sections.map((section) => {
    const { title, none, rows, shown } = section;
    if (rows.length === 0) return `## ${title}\n\n${none}\n`;
    const heads = shown.map(([name, heading = name]) => heading);
    const rule = shown.map(([name]) => (isNumber(section, name) ? "---:" : "---"));
    const lines = [
      heads,
      rule,
      ...rows.map((row) => shown.map(([name]) => markdownText(shownText(row, name)))),
    ];
    return `## ${title}\n\n${lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("")}`;
  });
  return parts.join("\n");
}

/** Text of foreign origin that is no markup, whatever it looks like. */
function markdownText(text: string): string {
  return printableLine(text)
    .replace(/[\\`*_{}[\]|~#!]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** The sections by their names, a row a line, after further members. */
export function sectionJson(head: readonly string[], sections: readonly Section[]): string {
  const members = sections.map(({ key, columns, rows }) => {
    const lines = rows.map((row) => jsonObject(columns.map((name) => [name, row[name] ?? null])));
    return `${JSON.stringify(key)}:[${lines.length === 0 ? "" : `\n${lines.join(",\n")}\n`}]`;
  });
  return `{${[...head, ...members].join(",\n")}}\n`;
}

/** A section with all columns; no text of it is a formula to a spreadsheet, unless `raw`. */
export function sectionCsv({ columns, rows }: Section, raw: boolean, toScreen: boolean): string {
  const cell = (row: Row, name: string) => {
    const value = row[name] ?? null;
    return typeof value === "string" && !raw ? safeText(value) : cellText(value);
  };
  const text = [csvRow(columns), ...rows.map((row) => csvRow(columns.map((name) => cell(row, name))))].join(
    "",
  );
  return toScreen ? printableText(text) : text;
}
