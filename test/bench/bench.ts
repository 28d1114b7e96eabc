/**
 * `npm run bench -- --items 20000`: what the export costs beside fetching and parsing the same pages (the floor).
 * The programs take turns, each in a process of its own, and the medians count. The published runs are checked. No test asserts a time: machines differ.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { removeTree } from "../../src/common/tree.ts";
import { CASES, type Case } from "./cases.ts";
import { benchContentDiff, type ContentDiffBench } from "./content-diff.ts";
import { writeTemplate } from "./content-set.ts";
import { digestOf } from "./digest.ts";
import { run, serving } from "./programs.ts";
import { type Exported, type Rounds, reportOf, type Took } from "./report.ts";

const PROGRAMS = ["floor", "nightly"] as const;
type ProgramName = (typeof PROGRAMS)[number];

const HELP = `npm run bench -- [options]

  --items N       items of the listings (20000)
  --case NAME     ${Object.keys(CASES).join(", ")} (standard); or content-diff, diff --content
                  alone, over two nights
  --rounds N      times that each program runs (3)
  --only NAMES    of ${PROGRAMS.join(", ")}, with commas between (all)
  --profile DIR   leaves a CPU profile of each thread of the export
  --json FILE     writes the result

Examples: npm run bench -- --items 100000 --json result.json
          npm run bench -- --case content-diff --items 100000
`;

const { values } = parseArgs({
  options: {
    items: { type: "string", default: "20000" },
    case: { type: "string", default: "standard" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: PROGRAMS.join(",") },
    profile: { type: "string" },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

interface Address {
  readonly url: string;
  readonly token: string;
}

/** Where the bench works. */
interface Bench {
  readonly folder: string;
  readonly chosen: Case;
  readonly template: string;
  readonly config: string;
}

if (values.help) process.stdout.write(HELP);
else if (values.case === "content-diff") await alone(benchContentDiff);
else await main();

/** A part of the package by itself, without the programs that take turns. */
async function alone(
  bench: (place: ContentDiffBench) => Promise<{ readonly correct: boolean }>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "content-warehouse-bench-"));
  try {
    const report = await bench({ items: Number(values.items), folder });
    await tell(report, report.correct);
  } finally {
    await removeTree(folder);
  }
}

async function tell(report: object, correct: boolean): Promise<void> {
  const text = `${JSON.stringify(report, undefined, 2)}\n`;
  if (values.json !== undefined) await writeFile(values.json, text);
  process.stdout.write(text);
  if (!correct) process.exitCode = 1;
}

async function main(): Promise<void> {
  const chosen = CASES[values.case];
  const items = Number(values.items);
  if (chosen === undefined) throw new Error(`There is no case "${values.case}".\n\n${HELP}`);
  if (items % chosen.templates !== 0) {
    throw new Error(`--items is ${items}; in this case give a multiple of ${chosen.templates}.`);
  }
  const folder = await mkdtemp(join(tmpdir(), "content-warehouse-bench-"));
  try {
    const bench = { folder, chosen, template: join(folder, "template"), config: join(folder, "config.json") };
    await writeTemplate({ out: bench.template, items: chosen.templates, bodyBytes: chosen.bodyBytes });
    await writeFile(bench.config, JSON.stringify({ perPage: chosen.perPage }));
    const sample = await withService(bench, chosen.templates, (address) => nightly(bench, address));
    const rounds = await withService(bench, items, (address) => takeTurns(bench, address, items));
    const report = reportOf({ name: values.case, chosen, items, rounds, sample: sample.summary });
    await tell(report, report.correct);
  } finally {
    await removeTree(folder);
  }
}

async function withService<Result>(
  { template }: Bench,
  items: number,
  use: (address: Address) => Promise<Result>,
): Promise<Result> {
  const settings = JSON.stringify({ template, items, port: 0 });
  return serving({ script: "service.ts", args: [settings] }, use);
}

async function takeTurns(bench: Bench, address: Address, items: number): Promise<Rounds> {
  const { chosen } = bench;
  const settings = JSON.stringify({ ...address, perPage: chosen.perPage });
  const rounds: Rounds = { floor: [], nightly: [] };
  const wanted = (name: ProgramName) => values.only.split(",").includes(name);
  const say = (name: string, { seconds }: Took) => {
    process.stderr.write(`${name}: ${seconds.toFixed(1)} s (${items} items)\n`);
  };
  // The service renders its documents when it is asked for them first.
  await run<Took>({ script: "floor.ts", args: [settings] });
  for (let round = 0; round < Number(values.rounds); round++) {
    if (wanted("floor")) rounds.floor.push(await run<Took>({ script: "floor.ts", args: [settings] }));
    if (wanted("nightly")) rounds.nightly.push(await nightly(bench, address));
    for (const [name, all] of Object.entries(rounds)) {
      const last = all.at(-1);
      if (last !== undefined) say(name, last);
    }
  }
  return rounds;
}

async function nightly({ folder, config }: Bench, { url, token }: Address): Promise<Exported> {
  const out = join(folder, "warehouse");
  const profile = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
  const exported = await run<Exported>({
    script: "export.ts",
    args: [out, config],
    env: { CONTENT_API_URL: url, CONTENT_API_TOKEN: token },
    options: profile,
  });
  // What tells of the run and its start is another each time.
  const tables = Object.keys(exported.summary.rows).filter((name) => !/^run(_|$)|_history$/.test(name));
  const digest = await digestOf(join(out, "current", "warehouse.duckdb"), tables);
  await removeTree(out);
  return { ...exported, digest };
}
