/** Composes a pipeline from stages, and reports all faults if they do not fit together. */
import { z } from "zod";
import { invalidConfig } from "./common/errors.ts";
import { isObject } from "./common/json.ts";
import { didYouMean } from "./common/nearest.ts";
import { parseForm } from "./common/parse-form.ts";
import { printable } from "./common/printable.ts";
import type { Pipeline, PipelineSpec, Transformer } from "./pipeline.ts";
import { DATA_TABLES } from "./tables/all.ts";
import { customTableFaults, duplicatesIn } from "./tables/custom-tables.ts";
import type { Table } from "./tables/declare.ts";

/** Throws `config.invalid` with all faults in one message. */
export function definePipeline(spec: PipelineSpec): Pipeline {
  const form = parseForm(specForm, spec);
  const faults = "faults" in form ? form.faults : faultsOf(spec);
  if (faults.length > 0) {
    const name = isObject(spec) && typeof spec.name === "string" ? ` "${printable(spec.name)}"` : "";
    const all = [...new Set(faults)].map((fault) => printable(fault, 1000)).join("; ");
    throw invalidConfig(`The pipeline${name} cannot be run: ${all}.`);
  }
  const { name, description = "", extract, transform, load } = spec;
  const destinations = extract.find((each) => each.extract === "destinations");
  const listings = extract.flatMap((each) => (each.extract === "listing" ? [each.mode] : []));
  const given = transform.map((stage) => ({ stage, tables: tablesOf(stage, spec) }));
  const rows = given.flatMap(({ stage, tables }) =>
    // A stage can be an instance of a class, so its functions need `this`.
    tables.flatMap((table) => (stage.rows === undefined ? [] : [[table.name, stage.rows.bind(stage)]])),
  );
  return {
    name,
    description,
    listings,
    singleItems: extract.find((each) => each.extract === "single_items")?.of ?? "none",
    destinations: destinations === undefined ? [] : destinations.names,
    customFields: extract.find((each) => each.extract === "custom_fields")?.names,
    tables: given.flatMap(({ tables }) => tables),
    rows: Object.fromEntries(rows),
    queries: Object.fromEntries(inOrder(transform).map((query) => [nameOf(query), query.sql ?? ""])),
    passthrough: transform.some(({ passthrough }) => passthrough === true),
    loaders: load,
    tests: spec.audit ?? [],
  };
}

const method = z.custom((value) => typeof value === "function", "expected a function").optional();

const extractor = z.discriminatedUnion("extract", [
  z.object({ extract: z.literal("listing"), mode: z.enum(["dynamic", "full"]) }),
  z.object({ extract: z.literal("single_items"), of: z.enum(["events", "all"]) }),
  z.object({
    extract: z.literal("destinations"),
    names: z.array(z.object({ name: z.string(), platform: z.string() })).optional(),
  }),
  z.object({ extract: z.literal("custom_fields"), names: z.array(z.string()) }),
]);

const transformer = z.object({
  name: z.string(),
  tables: z.array(z.looseObject({ name: z.string() })),
  reads: z.array(z.string()),
  rows: method,
  sql: z.string().optional(),
});

const loader = z
  .object({ name: z.string(), publishes: z.enum(["duckdb", "parquet"]).optional(), stage: method })
  .refine(
    ({ publishes, stage }) => publishes !== undefined || stage !== undefined,
    "expected a loader: duckdb(), parquet(), or one with a stage",
  );

const tableTest = z
  .looseObject({ name: z.string(), severity: z.enum(["error", "warning"]) })
  .refine(
    (given) => ["sql", "failOn", "max"].some((member) => member in given),
    "expected a test, made by test, mappingCoverage or lostValues",
  );

/** Form of a composition. It also detects stages in the wrong list. */
const specForm = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, "expected lower-case letters, digits and -"),
  description: z.string().optional(),
  extract: z.array(extractor),
  transform: z.array(transformer),
  load: z.array(loader),
  audit: z.array(tableTest).optional(),
});

/** Faults of stages that have the right form. */
function faultsOf(spec: PipelineSpec): string[] {
  const own = spec.transform.flatMap(ownTableFaults);
  if (own.length > 0) return own;
  return [...extractFaults(spec), ...transformFaults(spec), ...loadFaults(spec), ...auditFaults(spec)];
}

function ownTableFaults({ name, tables, rows, sql }: Transformer): string[] {
  const own = tables.filter((table) => !DATA_TABLES.includes(table));
  const wrong = own.flatMap(customTableFaults);
  if (wrong.length > 0) return wrong.map((fault) => `${name}: ${fault}`);
  const stages = [...(rows === undefined ? [] : ["item"]), ...(sql === undefined ? [] : ["query"])];
  const fits = [tables.length, ...own.map(({ stage }) => stage)].join() === [1, ...stages].join();
  return faultUnless(
    fits || (own.length === 0 && stages.length === 0),
    `${name}: a custom table needs a stage of its own, with either rows or sql`,
  );
}

/** Factory of a listing, of single items or of a lookup, by what it reads and by the resource that fills tables. */
const FACTORY: Readonly<Record<string, string>> = {
  dynamic: 'listing("dynamic")',
  full: 'listing("full")',
  basic: 'listing("full")',
  single_items: "singleItems()",
  destinations: "destinations()",
  destination: "destinations()",
  custom_fields: "customFields()",
  custom_field_definition: "customFields()",
};

/** Factories of the extractors, in their order. */
function factoriesIn({ extract }: PipelineSpec): string[] {
  return extract.map((each) => FACTORY[each.extract === "listing" ? each.mode : each.extract] ?? "");
}

function extractFaults(spec: PipelineSpec): string[] {
  const factories = factoriesIn(spec);
  const has = (source: string) => factories.includes(FACTORY[source] ?? "");
  const isNameless = spec.extract.some((each) => each.extract === "custom_fields" && each.names.length === 0);
  return [
    ...duplicatesIn(factories).map((factory) => `extract has ${factory} twice`),
    ...faultUnless(
      has("dynamic") || has("full"),
      'extract has no listing, so there are no items: add listing("dynamic"), listing("full") or both',
    ),
    ...faultUnless(
      !has("single_items") || has("dynamic"),
      'singleItems needs listing("dynamic"), which says which items are events',
    ),
    // Definitions are looked up by name, and the dynamic documents have only IDs and labels of custom fields.
    ...faultUnless(
      !has("dynamic") || has("full") || !isNameless,
      'customFields needs listing("full"), which names the fields of items, or its option names',
    ),
  ];
}

/** Factories of what can fill a table; empty if it needs nothing. */
function factoriesOf({ stage, columns, rows }: Table): readonly string[] {
  if (stage === "derived" || stage === "history" || stage === "query") return [];
  // Tables of lists and objects have rows only where these are.
  const from =
    rows.kind === "list" || rows.kind === "object" ? rows.at : columns.flatMap(({ origins }) => origins);
  return [...new Set(from.flatMap(({ resource }) => FACTORY[resource] ?? []))];
}

function canFill(table: Table, spec: PipelineSpec): boolean {
  const wanted = factoriesOf(table);
  return wanted.length === 0 || factoriesIn(spec).some((factory) => wanted.includes(factory));
}

/** Tables of a transformer, without those that it may leave out because nothing fills them. */
function tablesOf(transformer: Transformer, spec: PipelineSpec): readonly Table[] {
  if (transformer.omitsUnfillableTables !== true) return transformer.tables;
  return transformer.tables.filter((table) => canFill(table, spec));
}

function transformFaults(spec: PipelineSpec): string[] {
  const { transform, extract } = spec;
  const tables = transform.flatMap((each) => tablesOf(each, spec));
  const names = new Set(tables.map(({ name }) => name));
  const mapped = transform.find(({ name }) => name === "mappedValues");
  return [
    ...faultUnless(tables.length > 0, "transform makes no table: add contentTables()"),
    ...duplicatesIn(tables.map(({ name }) => name.toLowerCase())).map(
      (name) => `two of its tables are called ${name}`,
    ),
    ...tables
      .filter((table) => !canFill(table, spec))
      .map(
        (table) => `no extractor fills the table ${table.name}: it needs ${factoriesOf(table).join(" or ")}`,
      ),
    ...transform.flatMap(({ name, reads }) => {
      const missing = reads.filter((read) => !names.has(read));
      return missing.map((read) => `${name} reads ${read}, which ${whyMissing(read, spec, names)}`);
    }),
    ...inCircles(transform).map((name) => `${name} reads a table that is made from its own rows`),
    ...faultUnless(
      mapped === undefined || extract.some((each) => each.extract === "destinations"),
      "mappedValues needs destinations() in extract",
    ),
  ];
}

/** Why a table that a query reads is missing, and how to get it. */
function whyMissing(read: string, { transform }: PipelineSpec, names: Iterable<string>): string {
  const left = transform.flatMap(({ tables }) => tables).find(({ name }) => name === read);
  if (left !== undefined) return `no extractor fills: it needs ${factoriesOf(left).join(" or ")}`;
  const known = DATA_TABLES.find(({ name }) => name === read);
  if (known === undefined) return `no transformer makes${didYouMean(read, names)}`;
  return `no transformer makes: ${known.stage === "derived" ? "add mappedValues()" : "let contentTables() make it"}`;
}

/** Names of queries that read their own tables, directly or through others. */
function inCircles(transform: readonly Transformer[]): string[] {
  const made = inOrder(transform);
  return transform.filter((each) => each.sql !== undefined && !made.includes(each)).map(({ name }) => name);
}

/** Queries in an order in which each comes after those it reads, without those in circles. */
function inOrder(transform: readonly Transformer[]): Transformer[] {
  const inTurn: Transformer[] = [];
  let rest = transform.filter(({ sql }) => sql !== undefined);
  for (;;) {
    const unmade = new Set(rest.map(nameOf));
    const next = rest.find((each) => !each.reads.some((read) => unmade.has(read)));
    if (next === undefined) return inTurn;
    inTurn.push(next);
    rest = rest.filter((each) => each !== next);
  }
}

const nameOf = ({ tables }: Transformer) => tables[0]?.name ?? "";

function loadFaults({ load }: PipelineSpec): string[] {
  return [
    ...duplicatesIn(load.map(({ name }) => name)).map((name) => `load has ${name} twice`),
    ...faultUnless(
      load.some((each) => each.publishes !== undefined),
      "load has neither duckdb() nor parquet(), so nothing would be published",
    ),
  ];
}

/** Names of tests must differ, because `run_checks` has a row for each name. */
function auditFaults({ audit = [], transform }: PipelineSpec): string[] {
  return [
    ...duplicatesIn(audit.map(({ name }) => name)).map((name) => `audit has two tests called "${name}"`),
    ...faultUnless(
      audit.every((test) => "sql" in test) || transform.some(({ name }) => name === "mappedValues"),
      "mappingCoverage and lostValues need mappedValues() in transform",
    ),
  ];
}

function faultUnless(fits: boolean, fault: string): string[] {
  return fits ? [] : [fault];
}
