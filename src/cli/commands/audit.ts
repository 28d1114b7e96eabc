import { InvalidArgumentError } from "commander";
import { MAPPING_STATUSES, type MappingStatus } from "../../audit/mapped-value.ts";
import { hasAllMappedValues } from "../../audit/mapping/lost-and-gained.ts";
import { exportMapping } from "../../audit/mapping/mapping-file.ts";
import {
  countWithoutValue,
  type DestinationCounts,
  kindsText,
  mappedCounts,
  missingIn,
  receivingDestinations,
  sumCounts,
} from "../../audit/mapping/value-counts.ts";
import { findReadableRun, type OpenedRun, type RunSelection } from "../../audit/open-run.ts";
import { type Coverage, coverageSections, readCoverage } from "../../audit/questions/coverage.ts";
import {
  assertWithinLimits,
  comparesRuns,
  GATE_KINDS,
  type ValueLimit,
} from "../../audit/questions/value-limits.ts";
import { resolveScope } from "../../audit/scope.ts";
import type { Answer } from "../../common/answer.ts";
import { invalidConfig } from "../../common/errors.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import { type AnswerFlags, sectionName, showAnswer } from "../../show/answer.ts";
import { type OutputFolder, outputFolder } from "../../warehouse/layout.ts";
import { runBefore } from "../../warehouse/publish.ts";
import { CliCommand, type CliEnvironment, processEnvironment } from "../command.ts";
import { openOutputFile } from "../user-file.ts";
import { withRuns } from "../with-run.ts";

interface AuditFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly destination?: string;
  readonly field?: string;
  readonly value?: string;
  readonly status?: MappingStatus;
  readonly contentType?: string;
  readonly failOn?: readonly ValueLimit[];
  readonly exportMapping?: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse audit --destination "Web CMS" --status unmapped
  $ content-warehouse audit 42 --section values --format csv > values.csv
  $ content-warehouse audit --fail-on lost=20,unmapped=+10

All columns but "items" count values: rows of content_mapped_values. --fail-on
counts only destinations that receive values, within the filters; the section
"destinations" shows which do. empty: mapped values that are not sent, for want
of an external value or name; lost: values without the external value that they
had in the run before; unmapped=+10: ten more than in the run before.
`;

const SECTIONS = ["coverage", "destinations", "values", "unused_entries", "collisions"];

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
      `exit with 25 if there are any (or more than N, with =N): ${joinWords(GATE_KINDS, "or")}`,
      limits,
    )
    .option("--export-mapping <file>", "also write all mappings, as what-if reads them")
    .addHelpText("after", EXAMPLES)
    .action((run: string, options: AuditFlags) =>
      withRuns(
        options.warehouse,
        (folder) => selectRuns(folder, run, options.failOn),
        (opened) => audit(environment, opened, options),
      ),
    );
}

function limits(text: string): readonly ValueLimit[] {
  const found = text.split(",").map((part) => {
    const [, name, plus = "", number = "0"] = /^\s*([a-z_]+)(?:=(\+?)(\d{1,15}))?\s*$/.exec(part) ?? [];
    const kind = GATE_KINDS.find((each) => each === name);
    const isRelative = plus === "+";
    if (kind === undefined || (kind === "lost" && isRelative)) {
      throw new InvalidArgumentError(
        `Give ${joinWords(GATE_KINDS, "or")}, several with commas, each with =N if some are allowed, or except lost with =+N for more than in the run before.`,
      );
    }
    return { kind, limit: Number(number), isRelative };
  });
  return [...new Map(found.map((limit) => [limit.kind, limit])).values()];
}

/** The run, and the run before if a limit compares with it and it can be read. */
async function selectRuns(
  folder: OutputFolder,
  wanted: string,
  failOn: readonly ValueLimit[] = [],
): Promise<RunSelection> {
  if (!failOn.some(comparesRuns)) return { wanted };
  const { manifest } = await findReadableRun(folder, wanted);
  const before = (await runBefore(folder.runs, manifest))?.manifest;
  const isComparable = [manifest, before].every(
    (each) => each !== undefined && hasAllMappedValues(Object.keys(each.rows), each.items),
  );
  return { wanted: manifest.run, beside: isComparable ? before?.run : undefined };
}

const DEFINITIONS_ALONE = "is about definitions, to which --status and --value do not apply; leave them out";

async function audit(environment: CliEnvironment, opened: OpenedRun, options: AuditFlags): Promise<void> {
  const { destination, field, contentType, status, value, exportMapping: file, failOn = [] } = options;
  if (failOn.some(comparesRuns) && (status !== undefined || value !== undefined))
    throw invalidConfig("--fail-on compares runs without --status and --value; leave them out.");
  await using named =
    file === undefined
      ? undefined
      : await openOutputFile(file, "--export-mapping", outputFolder(options.warehouse));
  const scope = await resolveScope(opened.connection, { destination, field, contentType });
  const coverage = await readCoverage(opened.connection, { ...scope, status, value });
  const answer = coverageAnswer(opened, coverage);
  const { section } = options;
  if (section !== undefined && !answer.sections.some(({ key }) => sectionName(key) === section))
    throw invalidConfig(`The section ${section} ${DEFINITIONS_ALONE}.`);
  await showAnswer(environment, answer, options);
  if (named !== undefined) {
    const text = await exportMapping(opened.connection);
    environment.err.write(await named.write(text, `has the mappings of ${opened.run}`));
  }
  for (const note of await assertWithinLimits(opened, { scope, coverage }, failOn))
    environment.err.write(`${note}\n`);
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
  return { ...sum, without_external_value: missingIn(sum) };
}

/** The parts of the first sentence add up; those of the second overlap. */
function totalText({ coverage, destinations }: Coverage, run: string): string {
  const received = receivingDestinations(coverage);
  const sum = (name: "values" | "no_value_mapping", rows: typeof coverage) =>
    rows.reduce((total, row) => total + row[name], 0);
  const { mapped, ambiguous, collision } = sumCounts(received);
  const counts = mappedCounts(receivingDestinations(destinations));
  const values = sum("values", received);
  const others = sum("values", coverage) - values;
  const missing = countWithoutValue(counts);
  const kinds = missing === 0 ? "" : ` (${kindsText(counts)})`;
  return [
    `${pluralize(values, "value")} at destinations that receive values, in run ${run}: ${count(mapped)} mapped, ${count(missing)} missing${kinds}, ${count(sum("no_value_mapping", received))} of fields without value mappings.`,
    `Of these, ${count(ambiguous)} are ambiguous, ${count(collision)} share a name.`,
    ...(others === 0 ? [] : [`${pluralize(others, "more value")} at destinations that receive nothing.`]),
  ].join(" ");
}
