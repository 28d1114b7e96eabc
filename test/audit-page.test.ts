import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sampleNights, site } from "./audit/two-nights.ts";
import { program } from "./cli/running.ts";

const PAGE = new URL("../docs/audit.md", import.meta.url);
const QUESTIONS = /```(sh|sql)\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

const { out, folder, env, night, serve } = await site();

async function command(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await program([...args, "--out", out], { cwd: folder, env });
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** The answer without what differs from one pair of nights to another. */
function masked(text: string): string {
  return text
    .replace(/\b(0{5}([12]))-\d{8}T\d{6}Z/g, (_, number: string, at: string) => `${number}-${nightOf(at)}`)
    .replace(
      /since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, run 0{5}([12])/g,
      (_, at: string) => `since 2026-11-${19 + Number(at)} 02:00:00 UTC, run 00000${at}`,
    )
    .replace(/answered \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "answered 2026-11-21 02:00:00 UTC")
    .replace(/SHA-256 [0-9a-f]{64}/g, "SHA-256 ...");
}

const nightOf = (at: string): string => `202611${19 + Number(at)}T020000Z`;

async function answer(language: string, question: string): Promise<string> {
  if (language === "sql") return command("sql", question);
  const words = question.trim().match(/"[^"]*"|\S+/g) ?? [];
  const [name, ...args] = words.map((word) => word.replace(/^"(.*)"$/, "$1"));
  assert.equal(name, "content-warehouse");
  return masked(await command(...args));
}

/** With UPDATE_README=1 the answers are written into the page instead. */
test("the auditor's questions have the answers that two nights of the sample give", async () => {
  const [first, second] = await sampleNights(folder);
  await night(first);
  await night(second);
  const mapping = join(folder, "mapping.csv");
  await command("audit", "--export-mapping", mapping);
  await writeFile(
    mapping,
    (await readFile(mapping, "utf8")).replaceAll(",T1 North\r\n", ",T9 Far North\r\n"),
  );
  const page = await readFile(PAGE, "utf8");
  const service = await serve(second);
  let answered = page;
  try {
    for (const [block, language = "", question = ""] of page.matchAll(QUESTIONS)) {
      const text = await answer(language, question);
      answered = answered.replace(
        block,
        () => `\`\`\`${language}\n${question}\`\`\`\n\n\`\`\`text\n${text}\`\`\``,
      );
    }
  } finally {
    await service.close();
  }
  if (process.env.UPDATE_README === "1") await writeFile(PAGE, answered);
  else assert.equal(page, answered);
  assert.ok([...page.matchAll(QUESTIONS)].length >= 12);
});
