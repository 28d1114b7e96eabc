import { InvalidArgumentError } from "commander";
import { MAPPING_STATUSES, type MappingStatus } from "../../audit/mapped-value.ts";
import { exportMapping } from "../../audit/mapping/mapping-file.ts";
import {
  countWithoutValue,
  type DestinationCounts,
  kindsText,
  LIMIT_KINDS,
  LIMIT_TEXTS,
  type LimitKind,
  mappedCounts,
  receivingDestinations,
  sumCounts,
} from "../../audit/mapping/value-counts.ts";
import type { OpenedRun } from "../../audit/open-run.ts";
import { type Coverage, coverageSections, readCoverage } from "../../audit/questions/coverage.ts";
import { resolveScope } from "../../audit/scope.ts";
import type { Answer } from "../../common/answer.ts";
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import { type AnswerFlags, sectionName, showAnswer } from "../../show/answer.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { CliCommand, type CliEnvironment, processEnvironment } from "../command.ts";
import { openOutputFile } from "../user-file.ts";
import { withRuns } from "../with-run.ts";

type ValueLimits = ReadonlyMap<LimitKind, number>;

interface AuditFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly value?: string;
  readonly status?: MappingStatus;
  readonly contentType?: string;
  readonly failOn?: ValueLimits;
  readonly exportMapping?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse audit --destination "Web CMS" --status unmapped
  $ content-warehouse audit 42 --section values --format csv > values.csv
  $ content-warehouse audit --fail-on unknown_value,unmapped=100

All columns but "items" count values: rows of content_mapped_values. --fail-on
counts only destinations that receive values, within the filters; the section
"destinations" shows which do.
`;

const SECTIONS = [
  "coverage",
  "destinations",
  "values",
  "unused_entries",
  "unmapped_fields",
  "many_to_one",
  "collisions",
];

export function auditCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("audit")
    .argument("[run]", "name or number of a run", "current")
    .warehouse()
    .option("--destination <name>", "only this destination: name, name:platform or ID")
    .option("--field <name>", "only this custom field, by name or ID")
    .option("--value <value>", "only this value, by ID, text or external value")
    .choice("--status <status>", "only values of this status", MAPPING_STATUSES)
    .option("--content-type <name>", "only items of this content type, by name or ID")
    .answerForm(SECTIONS)
    .option(
      "--fail-on <kinds>",
      `exit with 25 if there are any (or more than N, with =N): ${joinWords(LIMIT_KINDS, "or")}`,
      limits,
    )
    .option("--export-mapping <file>", "also write all mappings, as what-if reads them")
    .addHelpText("after", EXAMPLES)
    .action((run: string, options: AuditFlags) =>
      withRuns(
        options.warehouse,
        async () => ({ wanted: run }),
        (opened) => audit(environment, opened, options),
      ),
    );
}

function limits(text: string): ValueLimits {
  const found = new Map<LimitKind, number>();
  for (const part of text.split(",")) {
    const [, name, number = "0"] = /^\s*([a-z_]+)(?:=(\d{1,15}))?\s*$/.exec(part) ?? [];
    const kind = LIMIT_KINDS.find((each) => each === name);
    if (kind === undefined) {
      throw new InvalidArgumentError(
        `Give ${joinWords(LIMIT_KINDS, "or")}, several with commas, each with =N if some are allowed.`,
      );
    }
    found.set(kind, Number(number));
  }
  return found;
}

const DEFINITIONS_ALONE = "is about definitions, to which --status and --value do not apply; leave them out";

async function audit({ out, err }: CliEnvironment, opened: OpenedRun, options: AuditFlags): Promise<void> {
  const { destination, field, contentType, status, value, exportMapping: file } = options;
  await using named =
    file === undefined ? undefined : await openOutputFile(file, outputFolder(options.warehouse));
  const scope = await resolveScope(opened.connection, { destination, field, contentType });
  const coverage = await readCoverage(opened.connection, { ...scope, status, value });
  const answer = coverageAnswer(opened, coverage);
  const { section } = options;
  if (section !== undefined && !answer.sections.some(({ key }) => sectionName(key) === section))
    throw invalidConfig(`The section ${section} ${DEFINITIONS_ALONE}.`);
  await showAnswer(out, answer, options);
  if (named !== undefined) {
    const text = await exportMapping(opened.connection);
    err.write(await named.write(text, `has the mappings of ${opened.run}`));
  }
  assertWithin(coverage, options.failOn);
}

function coverageAnswer({ run, manifest }: OpenedRun, coverage: Coverage): Answer {
  const { passthrough, destinations } = coverage;
  return {
    lead: totalText(coverage, run),
    facts: {
      run,
      verdict: manifest.verdict,
      passthrough,
      totals: totalsOf(destinations),
      receiving: totalsOf(receivingDestinations(destinations)),
    },
    sections: coverageSections(coverage),
  };
}

function totalsOf(destinations: readonly DestinationCounts[]) {
  const sum = sumCounts(destinations);
  return { ...sum, without_external_value: sum.unmapped + sum.unknown_value };
}

function totalText({ coverage, destinations }: Coverage, run: string): string {
  const received = receivingDestinations(coverage);
  const sum = (name: "values" | "no_value_mapping", rows: typeof coverage) =>
    rows.reduce((total, row) => total + row[name], 0);
  const { ambiguous, collision } = sumCounts(received);
  const counts = mappedCounts(receivingDestinations(destinations));
  const values = sum("values", received);
  const others = sum("values", coverage) - values;
  const apart =
    others === 0 ? "" : ` Another ${pluralize(others, "value")} at destinations that receive none.`;
  return (
    `${pluralize(values, "value")} at destinations that receive values, in the run ${run}: ` +
    `${count(countWithoutValue(counts))} without an external value (${kindsText(counts)}), ` +
    `${count(sum("no_value_mapping", received))} of fields without a value mapping, ` +
    `${count(ambiguous)} ambiguous, ${count(collision)} sent under a name shared by several fields.${apart}`
  );
}

function assertWithin({ destinations, coverage }: Coverage, allowed: ValueLimits = new Map()): void {
  const totals = sumCounts(receivingDestinations(destinations));
  const exceeded = [...allowed].filter(([kind, limit]) => totals[kind] > limit);
  if (exceeded.length === 0) return;
  const parts = exceeded.map(([kind, limit]) => {
    const worst = receivingDestinations(coverage).toSorted((a, b) => b[kind] - a[kind])[0];
    const where = `${worst?.custom_field ?? worst?.custom_field_id} at ${worst?.destination ?? worst?.destination_id}`;
    return `${count(totals[kind])} ${LIMIT_TEXTS[kind]} at destinations that receive values (limit: ${count(limit)}; most of them in ${where}: ${count(worst?.[kind] ?? 0)})`;
  });
  throw new WarehouseError(
    "audit.threshold",
    `There are ${joinWords(parts, "and")}; "content-warehouse audit" shows which, and "explain" why.`,
  );
}
