/** What `schema --format dbt` writes, in a project of dbt with its DuckDB adapter. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, suite, test } from "node:test";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { schemaCommand } from "../../src/cli/commands/schema.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { TABLES } from "../../src/tables/all.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { fewSampleNights, site } from "../audit/two-nights.ts";
import { capture } from "../cli/capture.ts";
import { temporaryFolder } from "../folders.ts";
import { CANARY } from "../run/canary.ts";
import { DBT, pythonWith } from "./python.ts";

const warehouse = await sampleWarehouse();
const folder = await temporaryFolder({ after });

/** The files of the page's project, by the comment that names each. */
async function projectOfThePage(): Promise<Map<string, string>> {
  const page = await readFile(packagePath("docs/tables.md"), "utf8");
  const blocks = page.matchAll(/```(?:yaml|sql)\n(?:#|--) (\S+\.(?:yml|sql))\n([\s\S]*?)```/g);
  return new Map([...blocks].map(([, name = "", text = ""]) => [name, text]));
}

interface Result {
  readonly unique_id: string;
  readonly status: "pass" | "success" | "warn" | "fail" | "error";
  readonly failures: number | null;
}

async function build(
  packages: readonly string[],
  sources: string,
  { timeZone = "Asia/Tokyo", selected = [] }: { timeZone?: string; selected?: readonly string[] } = {},
): Promise<{ results: Result[]; output: string; database: string; manifest: string }> {
  const project = await mkdtemp(join(folder, "project-"));
  const files = new Map([...(await projectOfThePage()), ["models/sources.yml", sources]]);
  for (const [name, text] of files) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text.replaceAll("/srv/warehouse", warehouse));
  }
  const dbt = join(dirname(await pythonWith(packages)), "dbt");
  const env = {
    PATH: process.env.PATH,
    HOME: project,
    TZ: timeZone,
    CANARY,
    DBT_SEND_ANONYMOUS_USAGE_STATS: "false",
  };
  const { stdout } = await promisify(execFile)(
    dbt,
    ["build", "--profiles-dir", ".", "--threads", "2", ...selected],
    {
      cwd: project,
      env,
    },
  ).catch((error: { stdout: string }) => error);
  const { results } = JSON.parse(await readFile(join(project, "target/run_results.json"), "utf8"));
  const manifest = await readFile(join(project, "target/manifest.json"), "utf8");
  return { results, output: stdout, database: join(project, "articles.duckdb"), manifest };
}

/** `content_favorites.user_id → users` of a test's ID, or of a check's name. */
function referenceIn(name: string): string {
  const [, place, table] =
    /relationships_content_warehouse_(.+)__\w+__source_content_warehouse_(\w+)_\./.exec(name) ??
    /^foreign key (\S+) → (\w+)$/.exec(name) ??
    [];
  return `${place?.replace(".", "_")} → ${table}`;
}

suite("a dbt project on the sources that are written", () => {
  for (const [index, packages] of DBT.entries()) {
    const timeZone = index % 2 === 0 ? "Asia/Tokyo" : "America/Vancouver";
    test(`builds and passes its tests with ${packages.join(" ")}, on a machine in ${timeZone}`, async () => {
      const { results, output, database } = await build(
        packages,
        await capture(schemaCommand, ["--format", "dbt"]),
        { timeZone },
      );
      assert.doesNotMatch(output, /deprecat/i);
      const tests = results.filter(({ unique_id }) => unique_id.startsWith("test."));
      const declared = TABLES.map(
        ({ columns, references }) =>
          1 + columns.filter(({ nullable }) => !nullable).length + references.length,
      );
      assert.equal(
        tests.length,
        declared.reduce((sum, each) => sum + each),
      );
      assert.deepEqual(
        results.filter(({ status }) => !["pass", "warn", "success"].includes(status)),
        [],
      );
      const query = "SELECT check_name FROM run_checks WHERE check_name LIKE 'foreign key %' AND figure > 0";
      const checks = JSON.parse(
        await capture(sqlCommand, [query, "--format", "json", "--warehouse", warehouse]),
      );
      const warned = tests.filter(({ status }) => status === "warn");
      assert.ok(warned.length > 0);
      assert.deepEqual(
        warned.map(({ unique_id }) => referenceIn(unique_id)).toSorted(),
        checks.map(({ check_name }: { check_name: string }) => referenceIn(check_name)).toSorted(),
      );
      assert.ok(
        results.some(({ unique_id, status }) => unique_id.startsWith("model.") && status === "success"),
      );
      const built = await (await DuckDBInstance.create(database, { access_mode: "READ_ONLY" })).connect();
      const months = "SELECT epoch_ms(month) AS month, published::INT AS published FROM ";
      const model = await built.runAndReadAll(`${months} published_by_month ORDER BY month`);
      const counted = `(SELECT date_trunc('month', published_date) AS month, count(*) AS published FROM content
        WHERE published AND deleted_at IS NULL GROUP BY ALL)`;
      const inUtc = await capture(sqlCommand, [
        `SELECT month::VARCHAR AS month, published FROM (${months} ${counted}) ORDER BY month::BIGINT NULLS LAST`,
        ...["--format", "json", "--warehouse", warehouse],
      ]);
      assert.deepEqual(model.getRowObjectsJson(), JSON.parse(inUtc), "the months of UTC");
    });
  }

  test("K3: has names and comments as the service wrote them, and renders none", async () => {
    const { out, folder: data, night } = await site();
    const [few] = await fewSampleNights(data);
    const definitions = join(few, "custom_fields.ndjson");
    const text = await readFile(definitions, "utf8");
    const odd = text
      .replace('"name":"audience"', `"name":"{{ env_var('CANARY') }}"`)
      .replace('"name":"region"', '"name":"{% raw %} {# gone #}{{{%"')
      .replaceAll('"field_name":"market"', `"field_name":"{{{ env_var('CANARY') }}}"`);
    await writeFile(definitions, odd);
    await night(few, "nightly");
    const sources = await capture(schemaCommand, ["--format", "dbt", "--warehouse", out]);
    const selected = ["--select", "source:content_warehouse.users"];
    const { manifest } = await build(DBT[1], sources, { selected });
    assert.ok(!manifest.includes(CANARY));
    for (const view of ["content_wide", "content_mapped_wide"]) {
      const query = `SELECT column_name AS name, comment FROM duckdb_columns() WHERE table_name = '${view}' ORDER BY name`;
      const known = JSON.parse(await capture(sqlCommand, [query, "--json", "--warehouse", out]));
      assert.ok(
        known.some(({ name }: { name: string }) => name.includes("{{")),
        view,
      );
      const described = Object.values<Record<"name" | "description", string>>(
        JSON.parse(manifest).sources[`source.articles.content_warehouse.${view}`].columns,
      );
      assert.deepEqual(
        described
          .map(({ name, description: comment }) => ({ name, comment }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        known,
      );
    }
  });

  test("fails where a key is not one", async () => {
    const sources = await capture(schemaCommand, ["--format", "dbt"]);
    const wrong = sources.replace(/(unique_key_of_content_tags\n.*\n +column_name: ).*/, '$1"content_id"');
    assert.notEqual(wrong, sources);
    const selected = ["--select", "source:content_warehouse.content_tags"];
    const { results } = await build(DBT[0], wrong, { selected });
    const [failed, ...others] = results.filter(({ status }) => status === "fail");
    assert.match(failed?.unique_id ?? "", /unique_key_of_content_tags/);
    assert.deepEqual(others, []);
  });
});
