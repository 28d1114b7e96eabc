/** The files and commands of docs/fleet.md, as they stand, in an empty folder: five services, a queue, two nights. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { freePort } from "./s3-server.ts";

const PAGE = packagePath("docs/fleet.md");
const FILES = /<!-- ([\w.]+) -->\n\n```\w+\n([\s\S]*?)```/g;
/** Commands, and what they print where the page has it. */
const COMMANDS = /```sh\n((?:(?!```)[\s\S])*?)```(?:\n\n```text\n([\s\S]*?)```)?/g;
/** Of the services on the page; the test takes those that are free. */
const PORTS = ["8101", "8102", "8103", "8104", "8105"];

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server[Symbol.asyncDispose]());

async function answering(port: string): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      const end = (is: boolean) => {
        socket.destroy();
        resolve(is);
      };
      socket.once("connect", () => end(true)).once("error", () => end(false));
    });
  for (let tries = 0; !(await isOpen()); tries++) {
    assert.ok(tries < 300, `nothing answers at ${port} within a minute`);
    await delay(200);
  }
}

/** One shell for all commands, as a person has one: what it prints after each, and its exit code. */
function openShell(cwd: string, env: NodeJS.ProcessEnv) {
  const shell = spawn("/bin/sh", { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  let said = "";
  shell.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  let printed = "";
  let onMore = () => {};
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    onMore();
  });
  const END = /-- ended with (\d+)\n$/;
  return {
    async give(commands: string) {
      printed = "";
      shell.stdin.write(`${commands}echo "-- ended with $?"\n`);
      while (!END.test(printed)) {
        await new Promise<void>((resolve) => {
          onMore = resolve;
        });
      }
      return { text: printed.replace(END, ""), code: Number(END.exec(printed)?.[1]), said };
    },
    async close() {
      const closed = once(shell, "close");
      // Services that it started are of its group.
      if (shell.pid !== undefined) process.kill(-shell.pid, "SIGKILL");
      await closed;
    },
  };
}

/** Without what no two nights have in common; the jobs of a worker end in no order. */
function masked(text: string): string {
  const same = text
    .replace(/-\d{8}T\d{6}Z/g, "-T")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE")
    .replace(/(?<=, |after )(?:\d+ min )?[\d.]+ s(?=,|$)/gm, "SECONDS");
  const isOfJobs = (line: string) => /^\w+: /.test(line);
  const lines = same.split("\n");
  return [...lines.filter(isOfJobs).toSorted(), ...lines.filter((line) => !isOfJobs(line))].join("\n");
}

/** With UPDATE_DOCS=1 what is printed is written into the page instead. */
test("docs/fleet.md: its files run as they stand, with one instance dead and one service away", async (t) => {
  const page = await readFile(PAGE, "utf8");
  const ports = new Map<string, string>();
  for (const port of PORTS) ports.set(port, String(await freePort()));
  const here = (text: string) => text.replace(/\b810[1-5]\b/g, (port) => ports.get(port) ?? port);
  const there = (text: string) =>
    [...ports].reduce((each, [port, free]) => each.replaceAll(`:${free}`, `:${port}`), text);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "fleet-page-")));
  t.after(() => removeTree(folder));
  const files = [...page.matchAll(FILES)];
  assert.deepEqual(
    files.map(([, name]) => name),
    ["fleet.json", "shared.config.mjs", "east.config.json"],
  );
  for (const [, name = "", text = ""] of files) await writeFile(join(folder, name), here(text));

  const shell = openShell(folder, {
    PATH: `${packagePath("node_modules/.bin")}:${process.env.PATH}`,
    ...server.env("postgres"),
    ...COMPILE_CACHE,
  });
  t.after(() => shell.close());
  const [, section = ""] = page.split("\n## Two nights\n");
  const [nights = ""] = section.split("\n## ");
  let answered = page;
  const codes: number[] = [];
  for (const [block, commands = "", expected] of nights.matchAll(COMMANDS)) {
    const { text, code, said } = await shell.give(here(commands));
    codes.push(code);
    const [, served = ""] = /^for port in ([\d ]+);/m.exec(here(commands)) ?? [];
    for (const port of served.split(" ").filter(Boolean)) await answering(port);
    const printed = there(text).replaceAll(folder, "/srv/content-warehouse");
    if (process.env.UPDATE_DOCS === "1")
      answered = answered.replace(
        block,
        () =>
          `\`\`\`sh\n${commands}\`\`\`${expected === undefined ? "" : `\n\n\`\`\`text\n${printed}\`\`\``}`,
      );
    else assert.equal(masked(printed), masked(expected ?? ""), said);
  }
  assert.deepEqual(codes, [0, 0, 20, 10, 0, 0]);
  if (process.env.UPDATE_DOCS === "1") await writeFile(PAGE, answered);
});
