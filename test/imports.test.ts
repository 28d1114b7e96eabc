/** Imports follow the data: which folder of `src` may import from which, no cycles between files, no crowded folder. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { suite, test } from "node:test";

/**
 * From below: what a folder may import from, itself apart. A folder goes by the row of the nearest one around it that
 * has one; a file of `src` itself has its own. A row that names another folder names the rows below it too.
 */
const MAY_IMPORT: Readonly<Record<string, string>> = {
  common: "",
  api: "common",
  tables: "common api",
  storage: "common tables",
  raw: "common api tables storage",
  "pipeline.ts": "common api tables storage raw",
  "define-pipeline.ts": "common tables pipeline.ts",
  warehouse: "common tables storage raw",
  "extract/http": "common api raw",
  "extract/pages": "common api raw extract/http",
  "extract/landing": "common raw storage extract/http extract/pages",
  "extract/passes": "common api raw extract/http extract/pages extract/landing",
  extract:
    "common api tables storage raw pipeline.ts warehouse extract/http extract/pages extract/landing extract/passes",
  transform: "common api tables storage raw pipeline.ts define-pipeline.ts",
  load: "common tables storage raw pipeline.ts warehouse transform",
  audit: "common tables storage warehouse load",
  "audit/mapping": "common storage tables warehouse load audit",
  "audit/stages.ts": "common pipeline.ts audit/mapping",
  "audit/checks": "common api tables storage raw pipeline.ts warehouse extract load audit audit/mapping",
  "audit/questions": "common storage raw tables warehouse load audit audit/mapping audit/checks",
  "audit/diff": "common api storage tables warehouse load audit audit/mapping audit/questions",
  show: "common storage",
  "show/page": "common storage warehouse audit show",
  targets: "common tables storage pipeline.ts warehouse load",
  observe: "common storage tables raw warehouse extract audit targets",
  config: "common api raw pipeline.ts warehouse extract audit targets observe",
  service: "common api",
  run: "common api tables storage raw pipeline.ts warehouse extract transform load audit targets observe config service show show/page",
  "index.ts":
    "common tables storage pipeline.ts define-pipeline.ts extract transform load audit targets observe config service run",
  cli: "common api tables storage pipeline.ts warehouse extract transform audit targets observe config service show show/page run",
};

/** Files of a folder's own. */
const MOST_FILES = 25;

const SRC = join(import.meta.dirname, "../src");

/** Static, of types, `typeof import("...")` and dynamic ones; of files, not of packages. */
const IMPORT = /\b(?:from|import)\s*\(?\s*(["'`])(\.[^"'`]*)\1/g;

/** Paths below `src` of what each file imports, in order. */
type Imports = ReadonlyMap<string, readonly string[]>;

const imports: Imports = new Map(
  globSync("**/*.ts", { cwd: SRC })
    .toSorted()
    .map((file) => [file, importsIn(readFileSync(join(SRC, file), "utf8"), file)]),
);

function importsIn(source: string, file: string): string[] {
  const found = [...source.matchAll(IMPORT)].map(([, , path = ""]) => join(dirname(file), path));
  return [...new Set(found)].toSorted();
}

/** The row that a path goes by; undefined: it has none. */
function rowOf(path: string): string | undefined {
  if (Object.hasOwn(MAY_IMPORT, path)) return path;
  return path === "." ? undefined : rowOf(dirname(path));
}

/** The rows that a row names. */
function named(row: string): string[] {
  return (MAY_IMPORT[row] ?? "").split(" ").filter((name) => name !== "");
}

function mayImport(from: string, to: string): boolean {
  const [row, other] = [rowOf(from), rowOf(to)];
  if (row === undefined || other === undefined) return false;
  const isBelow = (name: string) => other.startsWith(`${name}/`) && !row.startsWith(`${name}/`);
  return row === other || named(row).some((name) => name === other || isBelow(name));
}

function againstDirection(): string[] {
  return [...imports].flatMap(([file, others]) =>
    others.filter((other) => !mayImport(file, other)).map((other) => `${file} -> ${other}`),
  );
}

/**
 * A shortest cycle of each file that is in one; each cycle once, from its first file on. Rows lead upwards only, so one
 * over several rows has an import against the direction, which is told already: those are left out here.
 */
function cycles(): string[] {
  const found = [...imports.keys()].flatMap((file) => {
    const cycle = cycleFrom(file);
    return cycle === undefined ? [] : [fromFirst(cycle)];
  });
  return [...new Set(found.map((cycle) => [...cycle, cycle[0]].join(" -> ")))].toSorted();
}

/** The files of a shortest way from a file back to it. */
function cycleFrom(start: string): string[] | undefined {
  const ways = new Map([[start, [start]]]);
  for (const [file, way] of ways) {
    for (const other of imports.get(file)?.filter((each) => mayImport(file, each)) ?? []) {
      if (other === start) return way;
      if (!ways.has(other)) ways.set(other, [...way, other]);
    }
  }
  return undefined;
}

function fromFirst(cycle: readonly string[]): readonly string[] {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? "");
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

function crowded(): string[] {
  const counts = new Map<string, number>();
  for (const entry of globSync("**/*", { cwd: SRC, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const folder = relative(SRC, entry.parentPath);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, files]) => files > MOST_FILES)
    .map(([folder, files]) => `${folder} has ${files} files`)
    .toSorted();
}

/** Files of `common` that one folder alone uses, in which they belong. */
function ofOneFolder(): string[] {
  return [...imports.keys()].flatMap((file) => {
    // Threads begin with a file that nothing imports.
    if (rowOf(file) !== "common" || file.endsWith(".worker.ts")) return [];
    const users = [...imports].filter(([, others]) => others.includes(file)).map(([user]) => rowOf(user));
    return new Set(users).size < 2 ? [`${file}, by ${users[0] ?? "nobody"}`] : [];
  });
}

/** Fails with one line for each. */
function assertNone(found: readonly string[], problem: string): void {
  assert.ok(found.length === 0, found.map((line) => `\n${problem}: ${line}`).join(""));
}

suite("the files of src", () => {
  test("have a table that leads upwards only: each row names rows before it", () => {
    const rows = Object.keys(MAY_IMPORT);
    const wrong = rows.flatMap((row, place) =>
      named(row).flatMap((other) => (rows.slice(0, place).includes(other) ? [] : [`${row}: ${other}`])),
    );
    assertNone(wrong, "no row before it");
  });

  test("import only what is there, from a folder that has a row in the table", () => {
    const paths = [...imports.keys(), ...[...imports.values()].flat()];
    const unknown = paths.filter((path) => !imports.has(path) || rowOf(path) === undefined);
    assertNone([...new Set(unknown)], "no file of src, or of no folder in the table");
  });

  test("import along the flow of the data", () => {
    assertNone(againstDirection(), "against the direction");
  });

  test("lie in `common` where several folders use them", () => {
    assertNone(ofOneFolder(), "used by one folder at most");
  });

  test("import each other in no circle, types included", () => {
    assertNone(cycles(), "a cycle");
  });

  test(`lie in folders of at most ${MOST_FILES}`, () => {
    assertNone(crowded(), "too many files");
  });
});
