/** Makes a pipeline of stages, and says all that is wrong where they do not fit together. */
import { WarehouseError } from "./common/errors.ts";
import { hint } from "./common/nearest.ts";
import { isObject } from "./common/objects.ts";
import { isArrayOf, isText } from "./common/options.ts";
import { printable } from "./common/printable.ts";
import type { Extractor, Pipeline, PipelineSpec, Transformer } from "./pipeline.ts";
import { DATA_TABLES } from "./tables/all.ts";
import { customTableFaults, repeated, unless } from "./tables/custom-tables.ts";
import type { Table } from "./tables/declare.ts";

/** Checks a composition. Errors: `config.invalid`, with all that is wrong in one message. */
export function definePipeline(spec: PipelineSpec): Pipeline {
  const faults = faultsOf(spec);
  if (faults.length > 0) {
    const name = isObject(spec) && isText(spec.name) ? ` "${printable(spec.name)}"` : "";
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

const LISTS = ["extract", "transform", "load", "audit"] as const;
type List = (typeof LISTS)[number];

const KEYS = ["name", "description", ...LISTS];

function faultsOf(spec: PipelineSpec): string[] {
  if (!isObject(spec)) return ["definePipeline takes an object"];
  const unknown = Object.keys(spec).filter((key) => !KEYS.includes(key));
  const lists = LISTS.filter(
    (key) => !Array.isArray(spec[key]) && !(key === "audit" && spec[key] === undefined),
  );
  const faults = [
    ...unknown.map((key) => `there is no key ${JSON.stringify(key)}${hint(key, KEYS)}`),
    ...unless(
      typeof spec.name === "string" && /^[a-z][a-z0-9-]*$/.test(spec.name),
      "its name is not in lower-case letters, digits and -",
    ),
    ...unless(
      spec.description === undefined || typeof spec.description === "string",
      "its description is not a text",
    ),
    ...lists.map((key) => `${key} is not a list of stages`),
  ];
  const strange = LISTS.flatMap((list) => strangers(spec, list));
  // What lists that can be read say together; of one that cannot, nobody knows what it lacks.
  if (lists.length > 0 || strange.length > 0) return [...faults, ...strange];
  return [
    ...faults,
    ...extractFaults(spec),
    ...transformFaults(spec),
    ...loadFaults(spec),
    ...auditFaults(spec),
  ];
}

type Stage = Readonly<Record<string, unknown>>;

/** What is wrong with the stages of a list, each by itself. Undefined: it is none. */
function strangers(spec: Readonly<Record<List, unknown>>, list: List): string[] {
  const stages = spec[list];
  if (!Array.isArray(stages)) return [];
  // A list may have holes, which no callback sees.
  return Array.from(stages, (stage: unknown) => stage).flatMap((stage, place) => {
    const where = `${list}[${place}]`;
    const faults = isObject(stage) ? FAULTS_OF_STAGES[list](stage) : undefined;
    if (faults === undefined) return [`${where} ${misplaced(stage, list)}`];
    const own = isObject(stage) && Array.isArray(stage.faults) ? stage.faults.map(String) : [];
    return own.length > 0 ? own : faults.map((fault) => `${where} ${fault}`);
  });
}

const FAULTS_OF_STAGES: Readonly<Record<List, (stage: Stage) => readonly string[] | undefined>> = {
  extract: extractorFaults,
  transform: transformerFaults,
  load: loaderFaults,
  audit: testFaults,
};

const EXAMPLES = {
  extract: 'listing("full")',
  transform: "contentTables()",
  load: "duckdb()",
  audit: "test({ name, sql })",
} as const;

function misplaced(stage: unknown, list: List): string {
  const home = isObject(stage) ? LISTS.find((each) => FAULTS_OF_STAGES[each](stage)) : undefined;
  return home === undefined
    ? `is no stage: call its factory, as in ${EXAMPLES[list]}`
    : `belongs into ${home}`;
}

/** What the factories check, of a stage that somebody has put together. */
function extractorFaults(stage: Stage): readonly string[] | undefined {
  const { extract, mode, of, names } = stage;
  if (!isFaultList(stage.faults)) return undefined;
  const isName = (each: unknown) => isObject(each) && isText(each.name) && isText(each.platform);
  switch (extract) {
    case "listing":
      return unless(mode === "dynamic" || mode === "full", "lists neither dynamic nor full");
    case "single_items":
      return unless(of === "events" || of === "all", "is of neither events nor all");
    case "destinations":
      return unless(names === undefined || isArrayOf(names, isName), "has names that are none");
    case "custom_fields":
      return unless(isTexts(names), "has names that are none");
    default:
      return undefined;
  }
}

function transformerFaults(stage: Stage): readonly string[] | undefined {
  const { name, tables, reads, rows, sql, faults } = stage;
  if (!isText(name) || !Array.isArray(tables) || !isTexts(reads) || !isFaultList(faults)) return undefined;
  if (rows !== undefined && typeof rows !== "function") return ["has rows that are not a function"];
  if (sql !== undefined && !isText(sql)) return ["has sql that is not a text"];
  if (Array.isArray(faults) && faults.length > 0) return [];
  const own = Array.from(tables).filter((table: unknown) => !DATA_TABLES.some((known) => known === table));
  const wrong = own.flatMap((table) =>
    customTableFaults(table).map((fault) => `has a table of which ${fault}`),
  );
  if (wrong.length > 0) return wrong;
  if (rows === undefined && sql === undefined)
    return own
      .map(({ name }) => `has ${name}, a table of its own, and neither rows nor sql for it`)
      .slice(0, 1);
  if (rows !== undefined && sql !== undefined) return ["has both rows and sql"];
  if (tables.length !== 1 || own.length !== 1)
    return ["has rows or sql, and so must have one table, which is its own"];
  return unless(
    own[0].stage === (sql === undefined ? "item" : "query") && own[0].rows.kind === "program",
    'has a table of another stage: with rows it is of "item", with sql of "query", and its rows are a program',
  );
}

function loaderFaults({ name, publishes: what, stage, faults }: Stage) {
  if (!isText(name) || name === "" || !isFaultList(faults)) return undefined;
  if (what === undefined && stage === undefined) return undefined;
  return [
    ...unless(
      [undefined, "duckdb", "parquet"].some((known) => known === what),
      "publishes neither duckdb nor parquet",
    ),
    ...unless(stage === undefined || typeof stage === "function", "has a stage that is not a function"),
  ];
}

function testFaults({ name, sql, failOn, severity, limit, tables, faults }: Stage) {
  if (!isText(name) || tables !== undefined || !isFaultList(faults)) return undefined;
  const limits = isObject(failOn) ? Object.values(failOn) : [limit];
  if (!isText(sql) && !isObject(failOn)) return undefined;
  return [
    ...unless(severity === "error" || severity === "warning", "has a severity that is not error or warning"),
    ...unless(
      limits.every((each) => Number.isSafeInteger(each) && Number(each) >= 0),
      "has a limit that is not a number of rows",
    ),
  ];
}

function isTexts(value: unknown): boolean {
  return isArrayOf(value, isText);
}

function isFaultList(value: unknown): boolean {
  return value === undefined || isArrayOf(value, (fault) => isText(fault) && fault.trim() !== "");
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
    ...repeated(kinds).map((kind) => `extract has ${kind} twice`),
    ...unless(
      modes.length > 0,
      'extract has no listing, so there are no items: add listing("dynamic"), listing("full") or both',
    ),
    ...unless(
      !kinds.includes("singleItems") || modes.includes("dynamic"),
      'singleItems needs listing("dynamic"), which says which items are events',
    ),
    // The dynamic view has the IDs and labels of custom fields alone, and definitions are looked up by name.
    ...unless(
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
    ...unless(tables.length > 0, "transform gives no table: add contentTables()"),
    ...repeated(tables.map(({ name }) => name.toLowerCase())).map(
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
    ...unless(
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
  return `no transformer gives${known === undefined ? hint(read, names) : `: ${wayTo(known)}`}`;
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
    ...repeated(load.map(({ name }) => name)).map((name) => `load has ${name} twice`),
    ...unless(
      load.some((each) => each.publishes !== undefined),
      "load has neither duckdb() nor parquet(), so the warehouse folder would get nothing",
    ),
  ];
}

/** Each is a row of `run_checks` by its name. */
function auditFaults({ audit = [], transform }: PipelineSpec): string[] {
  return [
    ...repeated(audit.map(({ name }) => name)).map((name) => `audit has two tests called "${name}"`),
    ...unless(
      audit.every((test) => "sql" in test) || transform.some(({ name }) => name === "mappedValues"),
      "mappingCoverage needs mappedValues() in transform",
    ),
  ];
}
