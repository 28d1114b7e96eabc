/** A run of content whose texts and keys begin with U+FEFF, and the questions that people ask of it. */
import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { whatIfCommand } from "../../src/cli/commands/what-if.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { createService } from "../../src/service/service.ts";
import { outcome } from "../cli/capture.ts";
import { program } from "../cli/running.ts";
import { long } from "../long.ts";
import { temporaryFolder } from "./running.ts";

const MARK = "\uFEFF";

/** The members whose texts begin with the mark, and two keys that are others' keys but for it. */
const marked = (json: string): string =>
  json
    .replaceAll(
      /"(title|slug|excerpt|value|display|display_label|field_name|instructions|file_name|filename)": "/g,
      `$&${MARK}`,
    )
    .replaceAll(/"(tags|categories)": \["/g, `$&${MARK}`)
    .replaceAll('"f-note": "', `$&${MARK}`)
    .replaceAll('"v-old"', `"${MARK}v-bread"`)
    .replaceAll('"e-2"', `"${MARK}e-1"`);

long(
  "texts and keys that begin with U+FEFF are told, explained, tried out and delivered as they are",
  async (t) => {
    const folder = await temporaryFolder(t);
    const set = join(folder, "set");
    await cp(packagePath("test/golden/bakery/set"), set, { recursive: true });
    for (const name of ["content.ndjson", "custom_fields.ndjson"]) {
      const file = join(set, name);
      await writeFile(file, marked(await readFile(file, "utf8")));
    }
    const service = await createService({ data: set });
    t.after(() => service.close());
    const out = join(folder, "warehouse");
    const config = join(folder, "config.json");
    await writeFile(
      config,
      JSON.stringify({ destinations: [{ name: "Web CMS" }], customFields: ["lonely"] }),
    );
    const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: "token-of-ann" };
    const { verdict } = await runPipeline({ pipeline: "nightly", warehouse: out, config, env, cwd: folder });
    assert.equal(verdict, "complete");

    const ask = async (make: Parameters<typeof outcome>[0], ...args: string[]): Promise<string> => {
      const { text, error } = await outcome(make, [...args, "--warehouse", out]);
      assert.equal(error, undefined, error?.message);
      return text;
    };
    const rows = async (sql: string) => JSON.parse(await ask(sqlCommand, sql, "--format", "json"));
    assert.deepEqual(await rows("SELECT title, slug FROM content WHERE content_id = 'i-2-article'"), [
      { title: `${MARK}Sourdough für alle`, slug: `${MARK}sourdough` },
    ]);
    assert.deepEqual(
      await rows("SELECT tag FROM content_tags WHERE content_id = 'i-2-article' AND ordinal < 2"),
      [{ tag: `${MARK}sour` }, { tag: "dough" }],
    );
    assert.deepEqual(
      await rows(
        "SELECT value_id, value FROM custom_field_select_values WHERE custom_field_id = 'f-topic' AND value_id LIKE '%v-bread' ORDER BY ALL",
      ),
      [
        { value_id: "v-bread", value: `${MARK}bread` },
        { value_id: `${MARK}v-bread`, value: `${MARK}old` },
      ],
    );
    const payload =
      "SELECT payload FROM content_external_payloads WHERE content_id = 'i-2-article' AND destination_id = 'd-cms'";
    const [sent] = await rows(payload);
    assert.deepEqual(sent.payload[`${MARK}Topic`], [`${MARK}Froh`, `${MARK}Brot`, `${MARK}Kuchen`]);

    for (const { content_id } of await rows("SELECT content_id FROM content"))
      await ask(explainCommand, content_id, "--steps");
    const bySlug = await program(["explain", `${MARK}sourdough`, "--warehouse", out]);
    assert.deepEqual(
      [bySlug.code, bySlug.stdout.split(": item ")[0]],
      [0, `${MARK}Sourdough für alle`],
      bySlug.stderr,
    );
    await ask(verifyCommand);
    for (const form of ["csv", "json"]) {
      const mapping = join(folder, `mapping.${form}`);
      await ask(auditCommand, "--export-mapping", mapping);
      assert.match(
        await ask(whatIfCommand, "--mapping", mapping),
        /^No external value would change in the run /,
      );
    }
  },
);
