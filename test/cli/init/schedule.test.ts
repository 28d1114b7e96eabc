import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
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
  const shell = line.replaceAll("\\%", "%");
  const words = execFileSync("/bin/sh", ["-c", `printf '%s\\n' ${shell}`], { encoding: "utf8" });
  assert.deepEqual(words.trimEnd().split("\n"), [...ODD.program, "run", "nightly", "--config", ODD.config]);
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
