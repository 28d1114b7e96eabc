import { extname } from "node:path";
import { InvalidArgumentError } from "commander";
import { STATUSES, type Status, sentOrNot, withoutValueMapping } from "../../audit/mapping/mapped-value.ts";
import { exportMapping, MAPPING_FORMATS, type MappingFormat } from "../../audit/mapping/mapping-file.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { COUNTED, type Counted, type Coverage, coverageOf } from "../../audit/questions/coverage.ts";
import { resolveScope } from "../../audit/questions/filters.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { CliCommand, type CliEnvironment, invalid, processEnvironment } from "../command.ts";
import { openNamedFile } from "../named-file.ts";
import { type Section, sectionCsv, sectionJson, sectionMarkdown, sectionTables } from "../render/sections.ts";
import { paragraph, printableText, writeAll } from "../render/terminal.ts";
import { withRun } from "../with-run.ts";

const SECTIONS = "coverage values unused-entries unmapped-fields many-to-one collisions".split(" ");

/** What may be there before the command fails. */
type Limits = ReadonlyMap<Counted, number>;

interface Options {
  readonly warehouse: string;
  readonly format: "table" | "json" | "csv" | "markdown";
  readonly section?: string;
  readonly destination?: string;
  readonly field?: string;
  readonly value?: string;
  readonly status?: Status;
  readonly contentType?: string;
  readonly failOn?: Limits;
  readonly exportMapping?: string;
  readonly spreadsheet?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse audit
  $ content-warehouse audit --destination "Web CMS" --status unmapped
  $ content-warehouse audit 42 --section values --format csv > values.csv
  $ content-warehouse audit --fail-on unknown_value,unmapped=100
  $ content-warehouse audit --export-mapping mapping.csv

RUN is a run's name, its number, or "current". Counts are of values: one is one row of content_mapped_values; only
"items" counts items. With --fail-on, exit code 25 says that there are more values of a kind than allowed (0 unless =N
is given) among those that the filters let through.
`;

export function auditCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("audit")
    .description("show which values the mappings cover, and which they do not")
    .argument("[run]", "name or number of a run, or current", "current")
    .warehouse()
    .option("--destination <name>", "only this destination, by name or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--value <value>", "only this value, by its ID, its text or its external value")
    .choice("--status <status>", "only values of this status", STATUSES)
    .option("--content-type <name>", "only items of this content type, by name or ID")
    .format("table", "json", "csv", "markdown")
    .choice(
      "--section <section>",
      "only this part of the answer (csv has one part: coverage unless given)",
      SECTIONS,
    )
    .option(
      "--fail-on <kinds>",
      `end with 25 where there are any: ${COUNTED.join(", ")}; each may have =N`,
      limits,
    )
    .option(
      "--export-mapping <file>",
      "also write all mappings into a .csv or .json file, as what-if reads them",
    )
    .spreadsheet()
    .addHelpText("after", EXAMPLES)
    .action((run: string, options: Options) =>
      withRun(options.warehouse, run, (opened) => audit(environment, opened, options)),
    );
}

function limits(text: string): Limits {
  const found = new Map<Counted, number>();
  for (const part of text.split(",")) {
    const [, name, number = "0"] = /^\s*([a-z_]+)(?:=(\d{1,15}))?\s*$/.exec(part) ?? [];
    const kind = COUNTED.find((each) => each === name);
    if (kind !== undefined && found.has(kind)) {
      throw new InvalidArgumentError(`"${kind}" stands there twice; give it once.`);
    }
    if (kind === undefined) {
      throw new InvalidArgumentError(
        `Give ${listed(COUNTED, "or")}, several with commas, each with =N if some are allowed.`,
      );
    }
    found.set(kind, Number(number));
  }
  return found;
}

async function audit({ out, err }: CliEnvironment, opened: OpenedRun, options: Options): Promise<void> {
  const { destination, field, contentType, status, value, exportMapping: file } = options;
  const format = file === undefined ? undefined : mappingFormat(file);
  await using named =
    file === undefined ? undefined : await openNamedFile(file, outputFolder(options.warehouse));
  const scope = await resolveScope(opened.connection, { destination, field, contentType });
  const coverage = await coverageOf(opened.connection, { ...scope, status, value });
  await writeAll(out, [answer(opened, coverage, options, out.columns)]);
  if (named !== undefined && format !== undefined) {
    const text = await exportMapping(opened.connection, format);
    err.write(await named.write(text, `has the mappings of ${opened.run}`));
  }
  assertWithin(coverage, options.failOn);
}

/** The form that a file's name asks for. Throws `config.invalid`. */
export function mappingFormat(file: string): MappingFormat {
  const extension = extname(file).slice(1).toLowerCase();
  const format = MAPPING_FORMATS.find((each) => each === extension);
  if (format !== undefined) return format;
  throw invalid(
    `A mapping file is CSV or JSON, by the end of its name; ${file} is neither: call it .csv or .json.`,
  );
}

function answer(opened: OpenedRun, coverage: Coverage, options: Options, width: number | undefined): string {
  const sections = sectionsOf(coverage).map((section) => ({
    ...section,
    all: `--section ${section.key.replaceAll("_", "-")} --format csv`,
  }));
  const key = options.section?.replaceAll("-", "_");
  const wanted = key === undefined ? sections : sections.filter((section) => section.key === key);
  if (wanted.length === 0) {
    throw invalid(
      `The section ${options.section} is about the definitions, which --status and --value say nothing about; leave them out.`,
    );
  }
  const { run, manifest } = opened;
  if (options.format === "csv") {
    const section = wanted.find((each) => each.key === (key ?? "coverage"));
    const form = { spreadsheet: options.spreadsheet === true, toScreen: width !== undefined };
    return section === undefined ? "" : sectionCsv(section, form);
  }
  if (options.format === "json") {
    const { passthrough, totals } = coverage;
    return sectionJson({ run, verdict: manifest.verdict, passthrough, totals }, wanted);
  }
  if (options.format === "markdown") return sectionMarkdown(wanted);
  const total = `${totalText(coverage)} in the run ${printableText(run)}`;
  return `${sectionTables(wanted, width)}\n${paragraph("", total, width)}`;
}

function totalText({ coverage, totals, passthrough }: Coverage): string {
  const sum = (name: string) => coverage.reduce((total, row) => total + Number(row[name]), 0);
  const { unmapped, unknown_value, ambiguous, collision } = totals;
  return (
    `${counted(sum("values"), "value")}: ${count(unmapped)} unmapped, ${count(unknown_value)} unknown, ` +
    `${count(sum("no_value_mapping"))} ${withoutValueMapping(passthrough)}, ` +
    `${count(ambiguous)} ambiguous, ${count(collision)} under a name that several fields have,`
  );
}

const SAID: Readonly<Record<Counted, string>> = {
  unmapped: "unmapped values",
  unknown_value: "unknown values",
  ambiguous: "ambiguous values",
  collision: "values under a name that several fields have",
};

function assertWithin({ totals, coverage }: Coverage, allowed: Limits = new Map()): void {
  const exceeded = [...allowed].filter(([kind, limit]) => totals[kind] > limit);
  if (exceeded.length === 0) return;
  const parts = exceeded.map(([kind, limit]) => {
    const worst = coverage.toSorted((a, b) => Number(b[kind]) - Number(a[kind]))[0];
    const where = `${worst?.custom_field ?? worst?.custom_field_id} at ${worst?.destination ?? worst?.destination_id}`;
    return `${count(totals[kind])} ${SAID[kind]} where ${count(limit)} are allowed (most of them in ${where}: ${count(Number(worst?.[kind]))})`;
  });
  throw new WarehouseError(
    "audit.threshold",
    `There are ${listed(parts, "and")}; "content-warehouse audit" shows which, and "explain" why.`,
  );
}

const FIELD_AT = "destination_id destination custom_field_id custom_field";

/** The parts of the answer; the terminal has the columns that a person reads. */
function sectionsOf({ coverage, values, definitions, passthrough }: Coverage): Section[] {
  const ofValues: Section[] = [
    {
      key: "coverage",
      title: "Coverage, in values",
      none: "no mapped field has such a value",
      columns:
        `${FIELD_AT} field_type external_field_name items items_with_gaps values mapped unmapped unknown_value ` +
        "no_value_mapping archived ambiguous matched_by_text collision entries entries_unused",
      shown:
        "destination custom_field external_field_name items values mapped unmapped unknown_value " +
        "no_value_mapping archived ambiguous collision entries_unused",
      headings: { no_value_mapping: sentOrNot(passthrough) },
      rows: coverage,
      optional: "collision ambiguous archived entries_unused external_field_name items no_value_mapping",
      limit: 100,
    },
    {
      key: "values",
      title:
        definitions === undefined ? "Values" : "Values that are unmapped, unknown, archived or ambiguous",
      columns:
        `${FIELD_AT} external_field_name value_id value status external_value archived items uses ` +
        "ambiguous matched_by_text collision",
      shown: "destination custom_field value status external_value archived ambiguous items",
      rows: values,
      optional: "ambiguous archived external_value",
    },
  ];
  if (definitions === undefined) return ofValues;
  return [
    ...ofValues,
    {
      key: "unused_entries",
      title: "Mapping entries that no item uses",
      columns: `${FIELD_AT} external_field_name mapping_id mapping_value_id value_id value external_value reason`,
      shown: "destination custom_field value external_value reason",
      rows: definitions.unusedEntries,
      optional: "external_value",
    },
    {
      key: "unmapped_fields",
      title: "Fields with values that no destination maps",
      columns: "custom_field_id custom_field field_type items",
      shown: "custom_field field_type items",
      rows: definitions.unmappedFields,
      optional: "field_type",
    },
    {
      key: "many_to_one",
      title: "Many-to-one values",
      columns: "destination_id destination external_field_name external_value internal_values given_by uses",
      shown: "destination external_field_name external_value uses given_by",
      rows: definitions.manyToOne,
      optional: "uses",
    },
    {
      key: "collisions",
      title: "Name collisions",
      columns: "destination_id destination external_field_name custom_fields uses",
      shown: "destination external_field_name custom_fields uses",
      rows: definitions.collisions,
      optional: "uses",
    },
  ];
}
