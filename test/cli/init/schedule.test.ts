import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { EXIT_CODES } from "../../../src/cli/exit-codes.ts";
import { SCHEDULERS, scheduleFiles } from "../../../src/cli/init/schedule.ts";

const ODD = {
  program: ["/opt/my node/bin/node", "/opt/100%/content-warehouse"],
  config: "/srv/it's $HOME/content-warehouse.config.mjs",
  user: "etl",
};
const textOf = (scheduler: (typeof SCHEDULERS)[number]) =>
  scheduleFiles(scheduler, ODD)
    .map(({ text }) => text)
    .join("\n");

test("a line of cron gives the shell the words that were meant", () => {
  const [, line = ""] = /^0 2 \* \* \* {2}(.*)$/m.exec(textOf("cron")) ?? [];
  // Cron turns what stands behind an unescaped % into standard input.
  assert.ok(!/(?<!\\)%/.test(line));
  const shell = /do (.*); code=/.exec(line)?.[1]?.replaceAll("\\%", "%");
  const words = execFileSync("/bin/sh", ["-c", `printf '%s\\n' ${shell}`], { encoding: "utf8" });
  assert.deepEqual(words.trimEnd().split("\n"), [...ODD.program, "run", "nightly", "--config", ODD.config]);
});

/** Runs the line of cron with a program that ends with these codes in turn, and pauses that take no time. */
async function cronWith(t: TestContext, codes: readonly number[]) {
  const folder = await mkdtemp(join(tmpdir(), "cron-"));
  t.after(() => rm(folder, { recursive: true }));
  const stub = async (name: string, script: string) =>
    writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await stub("sleep", `echo "sleep $1" >> ${folder}/said`);
  await stub(
    "program",
    `echo run >> ${folder}/said; exit $(echo ${codes.join(" ")} | cut -d' ' -f$(grep -c run ${folder}/said))`,
  );
  const [file] = scheduleFiles("cron", { ...ODD, program: [join(folder, "program")] });
  const [, line = ""] = /^0 2 \* \* \* {2}(.*)$/m.exec(file?.text ?? "") ?? [];
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const { status } = spawnSync("/bin/sh", ["-c", line], { env });
  return { status, said: (await readFile(join(folder, "said"), "utf8")).trim().split("\n") };
}

test("a line of cron tries three times where that may help, and ends with the last code", async (t) => {
  assert.deepEqual(await cronWith(t, [0]), { status: 0, said: ["run"] });
  assert.deepEqual(await cronWith(t, [24]), { status: 24, said: ["run"] });
  assert.deepEqual(await cronWith(t, [10]), { status: 10, said: ["run"] });
  assert.deepEqual(await cronWith(t, [21, 0]), { status: 0, said: ["run", "sleep 600", "run"] });
  const thrice = ["run", "sleep 600", "run", "sleep 1800", "run", "sleep 0"];
  assert.deepEqual(await cronWith(t, [75, 26, 30]), { status: 30, said: thrice });
});

test("systemd and Kubernetes try again after every other exit code than those that need a person, and after 0", () => {
  const failures = EXIT_CODES.map(([code]) => code).filter((code) => code !== 0);
  const final = (text: string, list: RegExp) => (list.exec(text)?.[1] ?? "").split(/,? /).map(Number);
  for (const codes of [
    final(textOf("systemd"), /^RestartPreventExitStatus=(.*)$/m),
    final(textOf("kubernetes"), /action: FailJob\n.*values: \[(.*)\]/),
  ])
    assert.deepEqual(
      failures.filter((code) => !codes.includes(code)),
      [21, 26, 30, 75, 130, 143],
    );
});

const noSystemd = spawnSync("systemd-analyze", ["--version"]).error !== undefined;

test("systemd takes the unit and the timer", {
  skip: noSystemd && "systemd-analyze is not installed",
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "units-"));
  t.after(() => rm(folder, { recursive: true }));
  const files = scheduleFiles("systemd", { ...ODD, program: ["/bin/true"], user: "root" });
  const paths = files.map(({ name }) => join(folder, name));
  for (const [at, { text }] of files.entries()) await writeFile(paths[at] ?? "", text);
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...paths], {
    encoding: "utf8",
  });
  const ours = stderr.split("\n").filter((line) => line.includes("content-warehouse"));
  assert.deepEqual([status, ours], [0, []], stderr);
});

test("a unit of systemd quotes what has spaces, and doubles what would be replaced", () => {
  assert.match(
    textOf("systemd"),
    /^ExecStart="\/opt\/my node\/bin\/node" \/opt\/100%%\/content-warehouse run nightly --config "\/srv\/it's \$\$HOME\/content-warehouse\.config\.mjs"$/m,
  );
});

test("every scheduler runs the same command at two, one at a time", () => {
  for (const scheduler of SCHEDULERS) assert.match(textOf(scheduler), /run,? nightly,? --config/);
  assert.match(textOf("systemd"), /OnCalendar=\*-\*-\* 02:00:00/);
  assert.match(textOf("kubernetes"), /schedule: "0 2 \* \* \*"\n {2}concurrencyPolicy: Forbid/);
});
