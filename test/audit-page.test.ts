import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { packagePath } from "../src/common/package-root.ts";
import { removeTree } from "../src/common/tree.ts";
import { either, long } from "./long.ts";

/** Commands and SQL, with the answer where the page has it. */
const QUESTIONS = /```(sh|sql)\n((?:(?!```)[\s\S])*?)```(?:\n\n```text\n([\s\S]*?)```)?/g;
/** The first makes the nights; of the others the questions that have an answer are asked. */
const PAGES = [
  { page: new URL("../docs/audit.md", import.meta.url), answered: 7, short: 2 },
  { page: new URL("../docs/history.md", import.meta.url), answered: 1, short: 1 },
] as const;
/** Of the demo; the test takes one that is free. */
const PORT = /\b8642\b/g;

const folder = await mkdtemp(join(tmpdir(), "audit-page-"));
const started: ChildProcess[] = [];
after(async () => {
  for (const service of started) {
    const stopped = once(service, "exit");
    // The shell and what it started.
    if (service.pid !== undefined) process.kill(-service.pid);
    await stopped;
  }
  await removeTree(folder);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : assert.fail();
}

/** `npx content-warehouse` and `npm run demo:two-nights`, as a clone has them, from the source. */
async function programs(port: number): Promise<string> {
  const { scripts } = JSON.parse(await readFile(packagePath("package.json"), "utf8"));
  const [runner, script = ""] = scripts["demo:two-nights"].split(" ");
  assert.equal(runner, "node");
  const bin = join(folder, "bin");
  await mkdir(bin);
  const write = (name: string, words: string, command: string) =>
    writeFile(join(bin, name), `#!/bin/sh\n[ "${words}" ] || exit 64\n${command}\n`, { mode: 0o755 });
  const node = `exec '${process.execPath}'`;
  await write("npx", '$1" = "content-warehouse', `shift\n${node} '${packagePath("src/cli/main.ts")}' "$@"`);
  await write("npm", '$*" = "run demo:two-nights', `${node} '${packagePath(script)}' two-nights ${port}`);
  return bin;
}

/** The answer without what differs from one pair of nights to another. */
function masked(text: string): string {
  return text
    .replace(/\b(0{5}([12]))-\d{8}T\d{6}Z/g, (_, number: string, at: string) => `${number}-${nightOf(at)}`)
    .replace(/│ \d{4}-\d\d-\d\d \d\d:\d\d: /g, "│ 2026-11-21 02:00: ")
    .replace(/\b[0-9a-f]{64}\b/g, "(SHA-256)".padEnd(64));
}

const nightOf = (at: string): string => `202611${19 + Number(at)}T020000Z`;

/** A screen, as wide as the boxes of a page may be. */
const SCREEN = "stty cols 100";

/** What commands print, given to a shell as they stand on the page; one that serves goes on. */
async function given(commands: string, bin: string, isAnswered: boolean): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    TERM: "dumb",
    NO_COLOR: "1",
    SHELL: "/bin/sh",
  };
  const [program = "", ...args] = isAnswered
    ? ["script", "-qec", `${SCREEN}; ${commands}`, "/dev/null"]
    : ["/bin/sh", "-ec", commands];
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  // A character may come in two chunks.
  child.stdout.setEncoding("utf8");
  let printed = "";
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  const serves = commands.startsWith("npx content-warehouse serve");
  if (serves) started.push(child);
  for await (const text of child.stdout) {
    printed += text;
    if (serves && printed.includes("Stop with Ctrl-C.")) return printed;
  }
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0, `${commands}: ${said}${printed}`);
  return printed.replaceAll("\r\n", "\n");
}

const UPDATES = process.env.UPDATE_README === "1";

/** With UPDATE_README=1 the answers are written into the page instead; the short form gives the first commands alone. */
long("the commands of the pages can be given as they stand, and have their answers", async () => {
  const port = await freePort();
  const bin = await programs(port);
  for (const page of PAGES) await assertAnswered(page, { port, bin });
  await assertAttached(PAGES[1].page);
});

/** What a page gives to DuckDB itself, the file to open in its first line, has the rows of `sql`. */
async function assertAttached(file: URL): Promise<void> {
  const page = await readFile(file, "utf8");
  const [, opened = "", block = ""] = /-- duckdb (\S+)\n(ATTACH[\s\S]*?)```/.exec(page) ?? [];
  const [first = ""] = (await readdir(join(folder, "two-nights/runs"))).sort();
  const [attach = "", question = "", ...others] = block
    .replace("000001-20261120T020000Z", first)
    .replaceAll("two-nights/", `${folder}/two-nights/`)
    .split(";\n");
  assert.deepEqual(others, [""]);
  const instance = await DuckDBInstance.create(join(folder, opened), { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  await connection.run(attach);
  const gone = (await connection.runAndReadAll(question)).getRowObjectsJson();
  assert.deepEqual(gone, [
    { content_id: "696e3c5a9df0deca35000140", title: "Walking from hut to hut for the first time" },
  ]);
  const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  assert.deepEqual(await rows("SELECT previous_run FROM run_history JOIN run USING (run)"), [[first]]);
  const counts = `SELECT count(*) FROM previous.content_mapped_wide
    UNION ALL SELECT count(*) FROM previous.content_external_payloads`;
  const [wide, payloads] = await rows(counts);
  assert.deepEqual(wide, payloads, "a view of the run before reads its own tables");
  connection.closeSync();
  instance.closeSync();
}

async function assertAnswered(
  { page: file, answered: least, short }: (typeof PAGES)[number],
  { port, bin }: { readonly port: number; readonly bin: string },
): Promise<void> {
  const page = await readFile(file, "utf8");
  const isFirst = file === PAGES[0].page;
  const all = [...page.matchAll(QUESTIONS)].filter(([, , , expected]) => isFirst || expected !== undefined);
  const questions = all.slice(0, UPDATES ? all.length : either(short, all.length));
  let answered = page;
  for (const [block, language = "", question = "", expected] of questions) {
    const commands =
      language === "sql" ? `npx content-warehouse sql "${question}" --warehouse two-nights` : question;
    const text = masked(await given(commands.replace(PORT, String(port)), bin, expected !== undefined));
    if (expected === undefined) continue;
    answered = answered.replace(
      block,
      () => `\`\`\`${language}\n${question}\`\`\`\n\n\`\`\`text\n${text}\`\`\``,
    );
  }
  if (UPDATES) await writeFile(file, answered);
  else assert.equal(page, answered);
  assert.ok(all.filter(([, , , expected]) => expected !== undefined).length >= least);
}
