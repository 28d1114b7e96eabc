/** Tables in Markdown. */
import { printableLine } from "./terminal.ts";

/** Text of foreign origin with its markup escaped. */
export function markdownText(text: string): string {
  return printableLine(text)
    .replace(/[\\`*_{}[\]|~#!]/g, (character) => `\\${character}`)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/** A line of a table, with its end; the cells are Markdown. */
export function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}
