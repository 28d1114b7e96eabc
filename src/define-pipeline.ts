/** Makes a pipeline of stages, and says all that is wrong where they do not fit together. */
import { z } from "zod";
import { WarehouseError } from "./common/errors.ts";
import { didYouMean } from "./common/nearest.ts";
import { isObject } from "./common/objects.ts";
import { parseForm } from "./common/parse-form.ts";
import { printable } from "./common/printable.ts";
import type { Extractor, Pipeline, PipelineSpec, Transformer } from "./pipeline.ts";
import { DATA_TABLES } from "./tables/all.ts";
import { customTableFaults, duplicatesIn, faultUnless } from "./tables/custom-tables.ts";
import type { Table } from "./tables/declare.ts";

/** Checks a composition. Errors: `config.invalid`, with all that is wrong in one message. */
export function definePipeline(spec: PipelineSpec): Pipeline {
  const form = parseForm(specForm, spec);
  const faults = "faults" in form ? form.faults : faultsOf(spec);
  if (faults.length > 0) {
    const name = isObject(spec) && typeof spec.name === "string" ? ` "${printable(spec.name)}"` : "";
    const all = [...new Set(faults)].map((fault) => printable(fault, 1000)).join("; ");
    throw new WarehouseError("config.invalid", `The pipeline${name} cannot be run: ${all}.`);
  }
  const { name, description = "", extract, transform, load } = spec;
  const destinations = extract.find((each) => each.extract === "destinations");
  const listings = extract.flatMap((each) => (each.extract === "listing" ? [each.mode] : []));
  const given = transform.map((stage) => ({ stage, tables: filled(stage, spec) }));
  const rows = given.flatMap(({ stage, tables }) =>
    // A stage may be of a class, whose functions know it as `this`.
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
    queries: Object.fromEntries(ordered(transform).map((query) => [nameOf(query), query.sql ?? ""])),
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
  .refine((given) => "sql" in given || "failOn" in given, "expected a test, made by test or mappingCoverage");

/** Stages of one's own have this form; of those that factories make, it tells the ones that stand in another's list. */
const specForm = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/, "expected lower-case letters, digits and -"),
  description: z.string().optional(),
  extract: z.array(extractor),
  transform: z.array(transformer),
  load: z.array(loader),
  audit: z.array(tableTest).optional(),
});

/** What is wrong with stages that have their form, and fit together or not. */
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
    `${name}: a table of one's own has a stage to itself, with either rows or sql`,
  );
}

const FACTORIES = {
  single_items: "singleItems",
  destinations: "destinations",
  custom_fields: "customFields",
} as const;

function extractFaults({ extract }: PipelineSpec): string[] {
  const modes = extract.flatMap((each) => (each.extract === "listing" ? [each.mode] : []));
  const kinds = extract.map((each) =>
    each.extract === "listing" ? `listing("${each.mode}")` : FACTORIES[each.extract],
  );
  return [
    ...duplicatesIn(kinds).map((kind) => `extract has ${kind} twice`),
    ...faultUnless(
      modes.length > 0,
      'extract has no listing, so there are no items: add listing("dynamic"), listing("full") or both',
    ),
    ...faultUnless(
      !kinds.includes("singleItems") || modes.includes("dynamic"),
      'singleItems needs listing("dynamic"), which says which items are events',
    ),
    // The dynamic view has the IDs and labels of custom fields alone, and definitions are looked up by name.
    ...faultUnless(
      !modes.includes("dynamic") || modes.includes("full") || !extract.some(isNameless),
      'customFields needs listing("full"), which names the fields that items carry, or names of its own',
    ),
  ];
}

function isNameless(each: Extractor): boolean {
  return each.extract === "custom_fields" && each.names.length === 0;
}

/** Which listings and lookups a table can be filled from; empty: none is needed. */
function sourcesOf({ stage, columns, rows }: Table): ReadonlySet<string> {
  if (stage === "derived" || stage === "history" || stage === "query") return new Set();
  // Where there is nothing at all, there is no row that a column could be of.
  const from =
    rows.kind === "list" || rows.kind === "object" ? rows.at : columns.flatMap(({ origins }) => origins);
  const resources = from.map(({ resource }) => resource);
  return new Set(resources.map((resource) => (resource === "basic" ? "full" : resource)));
}

/** What the extractors of a pipeline give. */
function givenBy({ extract }: PipelineSpec): ReadonlySet<string> {
  return new Set(
    extract.flatMap((each) => {
      if (each.extract === "listing") return [each.mode];
      if (each.extract === "destinations") return ["destination"];
      return each.extract === "custom_fields" ? ["custom_field_definition"] : [];
    }),
  );
}

function canFill(table: Table, spec: PipelineSpec): boolean {
  const sources = sourcesOf(table);
  return sources.size === 0 || !sources.isDisjointFrom(givenBy(spec));
}

/** Tables of a transformer; of one that takes what there is, those that the extractors can fill. */
function filled(transformer: Transformer, spec: PipelineSpec): readonly Table[] {
  if (transformer.takesWhatThereIs !== true) return transformer.tables;
  return transformer.tables.filter((table) => canFill(table, spec));
}

function transformFaults(spec: PipelineSpec): string[] {
  const { transform, extract } = spec;
  const tables = transform.flatMap((each) => filled(each, spec));
  const names = new Set(tables.map(({ name }) => name));
  const mapped = transform.find(({ name }) => name === "mappedValues");
  return [
    ...faultUnless(tables.length > 0, "transform gives no table: add contentTables()"),
    ...duplicatesIn(tables.map(({ name }) => name.toLowerCase())).map(
      (name) => `two of its tables are called ${name}`,
    ),
    ...tables
      .filter((table) => !canFill(table, spec))
      .map((table) => `nothing that it reads fills the table ${table.name}: it needs ${wantedBy(table)}`),
    ...transform.flatMap(({ name, reads }) => {
      const missing = reads.filter((read) => !names.has(read));
      return missing.map((read) => `${name} reads ${read}, which ${whyMissing(read, spec, names)}`);
    }),
    ...inCircles(transform).map((name) => `${name} reads what is made from its own rows`),
    ...faultUnless(
      mapped === undefined || extract.some((each) => each.extract === "destinations"),
      "mappedValues needs destinations() in extract",
    ),
  ];
}

/** What a transformer leaves out because nothing fills it, and a table of the package, are told by the way to them. */
function whyMissing(read: string, { transform }: PipelineSpec, names: Iterable<string>): string {
  const left = transform.flatMap(({ tables }) => tables).find(({ name }) => name === read);
  if (left !== undefined) return `nothing that it reads fills: it needs ${wantedBy(left)}`;
  const known = DATA_TABLES.find(({ name }) => name === read);
  return `no transformer gives${known === undefined ? didYouMean(read, names) : `: ${wayTo(known)}`}`;
}

function wayTo({ stage }: Table): string {
  if (stage === "derived") return "add mappedValues()";
  return stage === "history" ? "add history()" : "have contentTables() give it";
}

/** Names of stages whose queries read, by way of others, their own tables. */
function inCircles(transform: readonly Transformer[]): string[] {
  const made = ordered(transform);
  return transform.filter((each) => each.sql !== undefined && !made.includes(each)).map(({ name }) => name);
}

/** Queries so that each comes after those whose tables it reads; without those that read in circles. */
function ordered(transform: readonly Transformer[]): Transformer[] {
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

/** Of the table of a query. */
const nameOf = ({ tables }: Transformer) => tables[0]?.name ?? "";

const FACTORY: Readonly<Record<string, string>> = {
  dynamic: 'listing("dynamic")',
  full: 'listing("full")',
  destination: "destinations()",
  custom_field_definition: "customFields()",
};

function wantedBy(table: Table): string {
  return [...sourcesOf(table)].flatMap((source) => FACTORY[source] ?? []).join(" or ");
}

function loadFaults({ load }: PipelineSpec): string[] {
  return [
    ...duplicatesIn(load.map(({ name }) => name)).map((name) => `load has ${name} twice`),
    ...faultUnless(
      load.some((each) => each.publishes !== undefined),
      "load has neither duckdb() nor parquet(), so the warehouse folder would get nothing",
    ),
  ];
}

/** Each is a row of `run_checks` by its name. */
function auditFaults({ audit = [], transform }: PipelineSpec): string[] {
  return [
    ...duplicatesIn(audit.map(({ name }) => name)).map((name) => `audit has two tests called "${name}"`),
    ...faultUnless(
      audit.every((test) => "sql" in test) || transform.some(({ name }) => name === "mappedValues"),
      "mappingCoverage needs mappedValues() in transform",
    ),
  ];
}
