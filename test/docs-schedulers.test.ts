import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { SCHEDULERS, scheduleFiles } from "../src/cli/init/schedule.ts";
import { packagePath } from "../src/common/package-root.ts";

const PAGE = packagePath("docs/operations.md");
const CONFIG = "/srv/content-warehouse/content-warehouse.config.mjs";
const RUN = { program: ["/usr/bin/content-warehouse"], config: CONFIG, user: "warehouse" };

/** A block of code behind a comment that names its file. */
const GENERATED = /<!-- (content-warehouse\.[a-z]+) -->\n\n```(\w*)\n([\s\S]*?)```/g;

/** With UPDATE_DOCS=1 the blocks are written into the page instead. */
test("the files for cron, systemd and Kubernetes on the page are those that init writes", async () => {
  const page = await readFile(PAGE, "utf8");
  const files = SCHEDULERS.flatMap((scheduler) => scheduleFiles(scheduler, RUN));
  const textOf = (name: string) => files.find((file) => file.name === name)?.text ?? "";
  assert.deepEqual(
    [...page.matchAll(GENERATED)].map(([, name]) => name),
    files.map(({ name }) => name),
  );
  const made = page.replace(
    GENERATED,
    (_block, name, language) => `<!-- ${name} -->\n\n\`\`\`${language}\n${textOf(name)}\`\`\``,
  );
  if (process.env.UPDATE_DOCS === "1") await writeFile(PAGE, made);
  else assert.equal(page, made, "run this test with UPDATE_DOCS=1");
});

test("every scheduler on the page runs the same command at two", async () => {
  const page = await readFile(PAGE, "utf8");
  const [, section = ""] = page.split("\n## Every night\n");
  const blocks = [...(section.split("\n## ")[0] ?? "").matchAll(/```(\w*)\n([\s\S]*?)```/g)];
  const schedules = blocks.map(([, , text = ""]) => text).filter((text) => text.includes("--config"));
  assert.equal(schedules.length, 6);
  for (const text of schedules) {
    const words = text.replace(/["',[\]]/g, " ").replace(/\s+/g, " ");
    assert.match(
      words,
      /run nightly --config (?:CONFIG|\/(?:srv\/content-warehouse|config)\/content-warehouse\.config\.mjs)/,
    );
  }
  assert.equal(page.match(/0 2 \* \* \*|02:00/g)?.length, 6);
});
