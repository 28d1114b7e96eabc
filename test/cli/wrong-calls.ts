/** Calls with a wrong argument, and a part of the sentence that each gets. */

/** Of a run of the sample, whose folder is the working directory. */
const ITEM = "66d57e529df0deca35000000";
const NOWHERE = ["--warehouse", "nowhere"];

export type WrongCall = readonly [args: string, says: string, more?: readonly string[]];

/** Arguments have a blank between them; those that have one themselves come after the sentence. */
export const WRONG_CALLS: readonly WrongCall[] = [
  ["exprot", "unknown command 'exprot'"],
  ["help runz", 'has no command "runz" (did you mean "run"?)'],
  ["help nope", "topics are exit-codes and configuration."],

  ["run", "missing required argument 'pipeline'"],
  ["run nigthly --sample", 'There is no pipeline "nigthly"'],
  ["run ./nope.ts --sample", "There is no pipeline module at "],
  ["run nightly --smaple", "unknown option '--smaple' (Did you mean --sample?)"],
  ["audit --json --spreadsheet", "option '--json' cannot be used with option '--spreadsheet'"],
  ["audit --json --format csv", "option '--json' cannot be used with option '--format <format>'"],
  ["init", "give --url URL"],
  ["run nightly --sample --url http://x", "--sample and --url name two services"],
  ["run nightly --sample --contract frezee", "option '--contract <contract>' argument 'frezee' is invalid"],
  ["run nightly --sample --config nope.json", "nope.json"],
  ["run nightly --sample --warehouse a-file", "a-file cannot be used: a file is in the way"],
  ["run nightly --warehouse", "option '--warehouse <dir>' argument missing"],

  ["run nightly --sample --limit 0", "option '--limit <items>' argument '0' is invalid"],
  [
    "run nightly --sample --limit 5 --reread",
    "option '--limit <items>' cannot be used with option '--reread'",
  ],

  ["serve --port 99999", "option '--port <n>' argument '99999' is invalid"],
  ["serve --data nope", "The content set nope has no readable"],

  ["sql SELECT 1", "too many arguments"],
  ["sql", 'Did you mean "content"', ["FROM contnt"]],
  ["sql", '"title"', ["SELECT titel FROM content"]],
  ["sql", "is not a question; begin with SELECT", ["DROP TABLE content"]],

  ["runs rollback 2", 'There is no run "2"'],
  ["runs rollback 1", "There is no warehouse in ", NOWHERE],
  ["runs prune", "There is no warehouse in ", NOWHERE],
  ["replay", "There is no warehouse in ", NOWHERE],
  ["runs prune --keep 0", "option '--keep <n>' argument '0' is invalid"],
  ["runs list --warehouse nowhere", "There is no warehouse in "],

  ["verify --all 1", "--all"],

  ["audit --fail-on unmaped", "option '--fail-on <kinds>' argument 'unmaped' is invalid"],
  ["audit --section collisions --status unmapped", "leave them out."],

  ["report --out .", "cannot be written (EISDIR)"],
  ["report --out nope/report.html", "cannot be written (ENOENT)"],

  ["explain fellgate-mid --section valeus", "option '--section <section>' argument 'valeus' is invalid"],

  ["what-if", "required option '--mapping <file>' not specified"],
  ["what-if --mapping nope.csv", "nope.csv cannot be read (ENOENT)"],
];

const MAPPING = ["--mapping", "mapping.csv"];

/** Questions about what there is not; of {@link NOWHERE}, nothing is published. */
export const UNANSWERED: readonly WrongCall[] = [
  ["explain fellgate-mdi", 'The nearest is "fellgate-mid".'],
  ["explain fellgate-mid\u200b", "they differ only in what is not visible: U+200B at the end of yours."],
  [`explain ${ITEM.slice(0, -1)}9`, 'The nearest is "why-your-tent-is-wet-inside'],
  [`explain ${ITEM} --run 2`, 'There is no run "2"'],
  ["explain fellgate-mid", "There is no warehouse in ", NOWHERE],
  ["diff", "A comparison needs two runs"],
  ["diff --content", "A comparison needs two runs"],
  ["diff prevous", 'The nearest is "previous".'],
  ["diff", "There is no warehouse in ", NOWHERE],
  ["audit 2", 'There is no run "2"'],
  ["audit", "There is no warehouse in ", NOWHERE],
  ["audit --destination", 'The nearest is "Web CMS".', ["web cms"]],
  ["audit --value", 'The nearest is "Asia Pacific".', ["Asai Pacific"]],
  ["audit --destination", "U+0020 at character 4 of that one, where yours has U+00A0.", ["Web\u00a0CMS"]],
  [`explain ${ITEM} --destination`, 'The nearest is "Web CMS".', ["web cms"]],
  ["what-if 2", 'There is no run "2"', MAPPING],
  ["what-if", "There is no warehouse in ", [...MAPPING, ...NOWHERE]],
  ["report 2", 'There is no run "2"'],
  ["report", "There is no warehouse in ", NOWHERE],
  ["sql --run 2", 'There is no run "2"', ["SELECT 1"]],
  ["sql", "Nothing was published in ", ["SELECT 1", ...NOWHERE]],
  ["runs show curent", 'The nearest is "current".'],
  ["runs show --section rejects 2", 'There is no run "2"'],
  ["runs show", "There is no warehouse in ", NOWHERE],
];

export function argumentsOf([args, , more = []]: WrongCall): string[] {
  return [...args.split(" "), ...more];
}
