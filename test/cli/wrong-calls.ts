/** Calls with a wrong argument, and a part of the sentence that each gets. */

/** Of a run of the sample, whose folder is the working directory. */
const ITEM = "66d57e529df0deca35000000";
const NOWHERE = ["--warehouse", "nowhere"];

export type WrongCall = readonly [args: string, says: string, more?: readonly string[]];

/** Arguments have a blank between them; those that have one themselves come after the sentence. */
export const WRONG_CALLS: readonly WrongCall[] = [
  ["exprot", 'has no command "exprot"; did you mean report?'],
  ["--quiet", 'has no option --quiet; "content-warehouse --help" lists the options.'],
  ["help runz", 'has no command "runz"; did you mean run?'],
  ["help exit-code", 'has no command "exit-code"; did you mean exit-codes?'],
  ["help nope", "lists the commands; or name a topic: exit-codes, configuration."],

  ["run", '"content-warehouse run" needs <pipeline>'],
  ["run nigthly --sample", 'There is no pipeline "nigthly"'],
  ["run ./nope.ts --sample", "There is no pipeline module at "],
  ["run nightly extra --sample", "takes 1 argument at most, and got nightly, extra"],
  ["run nightly --smaple", "has no option --smaple; did you mean --sample?"],
  ["check --fromat json", "has no option --fromat; did you mean --format?"],
  ["audit --json --spreadsheet", "Give --json or --spreadsheet, not both."],
  ["audit --json --format csv", "Give --json or --format csv, not both."],
  ["schema --format yaml", '--format takes text, json, dbt or mermaid, and not "yaml"'],
  ["init", "give --url URL"],
  ["run nightly --sample --url http://x", "--sample and --url name two services"],
  [
    "run nightly --sample --contract frezee",
    '--contract takes evolve or freeze, and not "frezee"; did you mean freeze?',
  ],
  ["run nightly --sample --config nope.json", "nope.json"],
  ["run nightly --sample --warehouse a-file", "a-file cannot be used: a file is in the way"],
  ["run nightly --warehouse", "The option --warehouse needs a value: --warehouse <dir>."],

  ["run nightly --sample --limit 0", '--limit "0": give a whole number from 1.'],
  ["run nightly --sample --limit -1", '--limit "-1": give a whole number from 1.'],
  ["run nightly --sample --limit 1.5", '--limit "1.5": give a whole number from 1.'],
  ["run nightly --sample --limit abc", '--limit "abc": give a whole number from 1.'],
  ["run nightly --sample --limit", "The option --limit needs a value: --limit <items>."],
  ["run nightly --sample --limit 5 --reread", "--limit and --reread exclude each other"],
  ["run nightly --sample --limit 5 --accept-shrink", "--limit and --accept-shrink exclude each other"],
  ["run nightly --sample --limit 5 --accept-new-address", "--limit and --accept-new-address exclude"],
  ["run nightly --sample --limit 5 --resume", "has no option --resume"],
  ["check nightly --sample --limit 5", '"content-warehouse check" has no option --limit'],

  ["run nightly --sample --log-format jsn", "did you mean json?"],

  ["init --urll x", "did you mean --url?"],
  ["check nigthly", 'There is no pipeline "nigthly"; there are nightly, parquet'],
  ["drift 2", 'There is no run "2"'],
  ["drift --format jsno", "did you mean json?"],

  ["serve --port 99999", '--port "99999": it must be a whole number from 0 to 65535.'],
  ["serve --data nope", "The content set nope has no readable"],
  ["serve --rate-limit 5/day", '--rate-limit "5/day": it must be'],
  ["serve --max-per-page 0", '--max-per-page "0": it must be a whole number from 1 up.'],
  ["serve --latency -1", '--latency "-1": it must be a whole number'],
  ["serve sample", "takes no arguments, and got sample; leave that out."],

  ["sql SELECT 1", "put quotes around one that has blanks."],
  ["sql", 'The nearest is "content"', ["FROM contnt"]],
  ["sql", '"title"', ["SELECT titel FROM content"]],
  ["sql", "is not a question; begin with SELECT", ["DROP TABLE content"]],
  ["sql", "did you mean json?", ["SELECT 1", "--format", "jsno"]],
  ["sql", "did you mean --format?", ["SELECT 1", "--fromat", "json"]],
  ["sql", "Nothing was published in ", ["SELECT 1", ...NOWHERE]],

  ["schema --format jsno", "did you mean json?"],

  ["runs lst", '"content-warehouse runs" has no command "lst"; did you mean list?'],
  ["runs rollback", '"content-warehouse runs rollback" needs <run>'],
  ["runs show curent", 'The nearest is "current".'],
  ["runs rollback 2", 'There is no run "2"'],
  ["runs prune --keep 0", '--keep "0": give a whole number from 1.'],
  ["runs list --warehouse nowhere", "There is no warehouse in "],

  ["verify 2", 'There is no run "2"'],
  ["verify --all 1", "--all"],
  ["verify --warehouse nowhere", "There is no warehouse in "],

  ["audit 2", 'There is no run "2"'],
  ["audit --field regoin", 'The nearest is "region".'],
  ["audit --destination", 'The nearest is "Web CMS".', ["web cms"]],
  ["audit --content-type Artcle", 'The nearest are "Article" and "article".'],
  ["audit --value", 'The nearest is "Asia Pacific".', ["Asai Pacific"]],
  ["audit --status unmaped", "did you mean unmapped?"],
  ["audit --section value", "did you mean values?"],
  ["audit --fail-on unmaped", '--fail-on "unmaped": give unmapped, '],
  ["audit --fail-on unmapped,unmapped=900", '"unmapped" stands there twice'],
  ["audit --export-mapping x.xls", "x.xls"],
  ["audit --section collisions --status unmapped", "leave them out."],

  ["report 2", 'There is no run "2"'],
  ["report --out .", ". is a folder"],
  ["report --out nope/report.html", "cannot be written (ENOENT)"],

  ["runs show --section rejcts", "did you mean rejects?"],

  ["explain", '"content-warehouse explain" needs <item>'],
  ["explain fellgate-mdi", 'The nearest is "fellgate-mid".'],
  [`explain ${ITEM.slice(0, -1)}9`, `The nearest is "${ITEM}".`],
  [`explain ${ITEM} --field audienc`, 'The nearest is "audience".'],
  [`explain ${ITEM} --destination`, 'The nearest is "Web CMS".', ["web cms"]],
  [`explain ${ITEM} --run 2`, 'There is no run "2"'],

  ["diff prevous", 'The nearest is "previous".'],
  ["diff 1 2 3", "takes 2 arguments at most, and got 1, 2, 3"],
  ["diff --cause mapping_chnged", "did you mean mapping_changed?"],
  ["diff 1 1 --field regoin", 'The nearest is "region".'],
  ["diff --limit 0", '--limit "0": give a whole number from 1.'],

  ["what-if", '"content-warehouse what-if" needs --mapping <file>'],
  ["what-if --mapping nope.csv", "nope.csv cannot be read (ENOENT)"],
];

export function argumentsOf([args, , more = []]: WrongCall): string[] {
  return [...args.split(" "), ...more];
}
