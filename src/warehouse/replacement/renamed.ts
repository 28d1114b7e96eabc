/** What names runs, where these are replaced: paths, and cells of tables. */
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { NewNames } from "./numbers.ts";

/** The number of a run is part of its files' names. */
export function renumbered(path: string, from: number, to: number): string {
  const [old, now] = [from, to].map((sequence) => `-${String(sequence).padStart(6, "0")}-`);
  return path.replace(old ?? "", now ?? "");
}

/** By column that names a run, or has the number of one: SQL that gives the new one. Cells are those of `t`. */
export function renamedCells(columns: readonly string[], renamed: NewNames): ReadonlyMap<string, string> {
  const renaming = (cell: string, newFor: (run: string) => string, otherwise: string) => {
    const cases = [...renamed].map(([from, to]) => `WHEN ${quoteLiteral(from)} THEN ${newFor(to)}`);
    return `CASE ${cell} ${cases.join(" ")} ELSE ${otherwise} END`;
  };
  const cells = new Map<string, string>();
  for (const name of columns.filter((column) => /(^|_)run$/.test(column))) {
    const cell = `t.${quoteIdentifier(name)}`;
    cells.set(name, renaming(cell, quoteLiteral, cell));
  }
  const sequenceOf = (run: string) => String(Number(run.split("-", 1)[0]));
  if (cells.has("run")) cells.set("sequence", renaming("t.run", sequenceOf, "t.sequence"));
  return cells;
}
