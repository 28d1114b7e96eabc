/** Calls with a wrong argument, and a part of the sentence that each gets. */

/** Of a run of the sample, whose folder is the working directory. */
const ITEM = "66d57e529df0deca35000000";
const NOWHERE = ["--warehouse", "nowhere"];

export type WrongCall = readonly [args: string, says: string, more?: readonly string[]];

/** Arguments have a blank between them; those that have one themselves come after the sentence. */
export const WRONG_CALLS: readonly WrongCall[] = [
  ["exprot", "unknown command 'exprot'"],
  ["--quiet", "unknown option '--quiet'"],
  ["help runz", 'has no command "runz" (did you mean "run"?)'],
  ["help exit-code", '(did you mean "exit-codes"?)'],
  ["help nope", "topics are exit-codes and configuration."],

  ["run", "missing required argument 'pipeline'"],
  ["run nigthly --sample", 'There is no pipeline "nigthly"'],
  ["run ./nope.ts --sample", "There is no pipeline module at "],
  ["run nightly --smaple", "unknown option '--smaple' (Did you mean --sample?)"],
  ["check --fromat json", "unknown option '--fromat' (Did you mean --format?)"],
  ["audit --json --spreadsheet", "Give --json or --spreadsheet, not both."],
  ["audit --json --format csv", "Give --json or --format csv, not both."],
  ["schema --format yaml", "option '--format <format>' argument 'yaml' is invalid"],
  ["init", "give --url URL"],
  ["run nightly --sample --url http://x", "--sample and --url name two services"],
  ["run nightly --sample --contract frezee", "option '--contract <contract>' argument 'frezee' is invalid"],
  ["run nightly --sample --config nope.json", "nope.json"],
  ["run nightly --sample --warehouse a-file", "a-file cannot be used: a file is in the way"],
  ["run nightly --warehouse", "option '--warehouse <dir>' argument missing"],

  ["run nightly --sample --limit 0", "option '--limit <items>' argument '0' is invalid"],
  ["run nightly --sample --limit -1", "option '--limit <items>' argument '-1' is invalid"],
  [
    "run nightly --sample --limit 5 --reread",
    "option '--limit <items>' cannot be used with option '--reread'",
  ],
  [
    "run nightly --sample --limit 5 --accept-shrink",
    "option '--limit <items>' cannot be used with option '--accept-shrink'",
  ],
  [
    "run nightly --sample --limit 5 --accept-new-address",
    "option '--limit <items>' cannot be used with option '--accept-new-address'",
  ],
  [
    "run nightly --sample --limit 5 --accept-pipeline",
    "option '--limit <items>' cannot be used with option '--accept-pipeline'",
  ],
  ["run nightly --sample --limit 5 --resume", "unknown option '--resume'"],
  ["check nightly --sample --limit 5", "unknown option '--limit'"],

  ["run nightly --sample --log-format jsn", "option '--log-format <format>' argument 'jsn' is invalid"],

  ["check nigthly", 'There is no pipeline "nigthly"; the pipelines are nightly and parquet'],

  ["serve --port 99999", "option '--port <n>' argument '99999' is invalid"],
  ["serve --data nope", "The content set nope has no readable"],
  ["serve --rate-limit fast", "option '--rate-limit <n>' argument 'fast' is invalid"],
  ["serve --max-per-page 0", "option '--max-per-page <n>' argument '0' is invalid"],
  ["serve --latency -1", "option '--latency <ms>' argument '-1' is invalid"],

  ["sql SELECT 1", "too many arguments"],
  ["sql", 'The nearest is "content"', ["FROM contnt"]],
  ["sql", '"title"', ["SELECT titel FROM content"]],
  ["sql", "is not a question; begin with SELECT", ["DROP TABLE content"]],
  ["sql", "Nothing was published in ", ["SELECT 1", ...NOWHERE]],

  ["runs lst", "too many arguments"],
  ["runs rollback", "missing required argument 'run'"],
  ["runs show curent", 'The nearest is "current".'],
  ["runs rollback 2", 'There is no run "2"'],
  ["runs prune --keep 0", "option '--keep <n>' argument '0' is invalid"],
  ["runs list --warehouse nowhere", "There is no warehouse in "],

  ["verify 2", 'There is no run "2"'],
  ["verify --all 1", "--all"],
  ["verify --warehouse nowhere", "There is no warehouse in "],

  ["audit 2", 'There is no run "2"'],
  ["audit --field regoin", 'The nearest is "region".'],
  ["audit --destination", 'The nearest is "Web CMS".', ["web cms"]],
  ["audit --content-type Artcle", 'The nearest are "Article" and "article".'],
  ["audit --value", 'The nearest is "Asia Pacific".', ["Asai Pacific"]],
  ["audit --status unmaped", "option '--status <status>' argument 'unmaped' is invalid"],
  ["audit --fail-on unmaped", "option '--fail-on <kinds>' argument 'unmaped' is invalid"],
  ["audit --fail-on unmapped,unmapped=900", '"unmapped" is given twice'],
  ["audit --section collisions --status unmapped", "leave them out."],

  ["report 2", 'There is no run "2"'],
  ["report --out .", ". is a folder"],
  ["report --out nope/report.html", "cannot be written (ENOENT)"],

  ["runs show --section rejcts", "'rejcts' is invalid"],

  ["explain", "missing required argument 'item'"],
  ["explain fellgate-mdi", 'The nearest is "fellgate-mid".'],
  [`explain ${ITEM.slice(0, -1)}9`, `The nearest is "${ITEM}".`],
  [`explain ${ITEM} --field audienc`, 'The nearest is "audience".'],
  [`explain ${ITEM} --destination`, 'The nearest is "Web CMS".', ["web cms"]],
  [`explain ${ITEM} --run 2`, 'There is no run "2"'],

  ["diff prevous", 'The nearest is "previous".'],
  ["diff --cause mapping_chnged", "option '--cause <cause>' argument 'mapping_chnged' is invalid"],
  ["diff 1 1 --field regoin", 'The nearest is "region".'],
  ["diff --limit 0", "option '--limit <n>' argument '0' is invalid"],

  ["what-if", "required option '--mapping <file>' not specified"],
  ["what-if --mapping nope.csv", "nope.csv cannot be read (ENOENT)"],
];

export function argumentsOf([args, , more = []]: WrongCall): string[] {
  return [...args.split(" "), ...more];
}
