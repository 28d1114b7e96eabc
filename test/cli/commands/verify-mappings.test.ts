import assert from "node:assert/strict";
import { chmod, cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Command } from "commander";
import type { CliEnvironment } from "../../../src/cli/command.ts";
import { verifyMappingsCommand } from "../../../src/cli/commands/verify-mappings.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { runPipeline } from "../../../src/run/run-pipeline.ts";
import { createService, type Service } from "../../../src/service/service.ts";
import { either, long } from "../../long.ts";
import { MAPPING } from "../../run/running.ts";
import { capture, outcome } from "../capture.ts";

interface Night {
  readonly out: string;
  readonly folder: string;
  readonly verify: (...args: string[]) => ReturnType<typeof outcome>;
  /** The command where nothing is configured but the service and its token. */
  readonly command: (given: CliEnvironment) => Command;
  /** Changes a file of the content set line by line, and serves it at the same address. */
  readonly change: (file: string, edit: (line: Line) => object | undefined) => Promise<void>;
}

/** A line of a content set, as far as the tests change it. */
interface Line {
  readonly id: string;
  readonly mappings?: readonly { readonly values: readonly { value: string }[] }[];
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly asked: number;
  readonly agreeing: number;
  readonly items: readonly {
    readonly contentId: string;
    readonly verdict: string;
    readonly differences: readonly {
      readonly cause: string | null;
      readonly columns: readonly string[];
      readonly published: { readonly externalValue: string | null };
      readonly byTheAnswers: { readonly externalValue: string | null };
    }[];
  }[];
}

function parsed(text: string): Answer {
  return JSON.parse(text);
}

/** A run of the sample, made once; each test takes a copy. */
const made = await mkdtemp(join(tmpdir(), "verify-mappings-"));
after(() => removeTree(made));
const { url, port, token, destinations } = await madeOnce(made);

async function madeOnce(folder: string) {
  const service = await createService({ data: packagePath("data/sample") });
  const { url, port, contentSet } = service;
  const [token = ""] = contentSet.tokens.keys();
  const destinations = contentSet.destinations.map(({ identification, platform }) => ({
    name: identification,
    platform,
  }));
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ destinations }));
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: token };
  await runPipeline({
    pipeline: new URL(MAPPING),
    warehouse: join(folder, "warehouse"),
    config,
    cwd: folder,
    env,
  });
  await service.close();
  return { url, port, token, destinations };
}

/** A run of a copy of the sample that can be changed afterwards. */
async function night(t: TestContext): Promise<Night> {
  const folder = await mkdtemp(join(tmpdir(), "verify-mappings-"));
  const data = join(folder, "data");
  const out = join(folder, "warehouse");
  await cp(packagePath("data/sample"), data, { recursive: true });
  await cp(join(made, "warehouse"), out, { recursive: true, verbatimSymlinks: true });
  let service: Service = await createService({ data, port });
  t.after(async () => {
    await service.close();
    await removeTree(folder);
  });
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ destinations }));
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: token };
  const err = new PassThrough().resume();
  const command = (given: CliEnvironment) => verifyMappingsCommand({ ...given, env, cwd: folder, err });
  return {
    out,
    folder,
    command,
    verify: (...args) => outcome(command, [...args, "--config", config, "--warehouse", out]),
    change: async (file, edit) => {
      await service.close();
      const lines = (await readFile(join(data, file), "utf8")).trimEnd().split("\n");
      const edited = lines.map((line) => edit(JSON.parse(line))).filter((line) => line !== undefined);
      await writeFile(join(data, file), edited.map((line) => `${JSON.stringify(line)}\n`).join(""));
      service = await createService({ data, port });
    },
  };
}

test("what is called personal is held against the answers after the policy, and is not shown", async (t) => {
  const { folder, out, change } = await night(t);
  const config = join(folder, "personal.json");
  await writeFile(config, JSON.stringify({ destinations, personalFields: ["region"], personalData: "hash" }));
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: token, CONTENT_WAREHOUSE_HASH_KEY: "k".repeat(32) };
  await runPipeline({ pipeline: new URL(MAPPING), warehouse: out, config, cwd: folder, env });
  const verify = () =>
    outcome(
      (given) => verifyMappingsCommand({ ...given, env, cwd: folder, err: new PassThrough().resume() }),
      ["--items", "100", "--seed", "1", "--config", config, "--warehouse", out],
    );
  assert.match((await verify()).text, /100 agree, 0 changed since the run, 0 gone, 0 differ\n$/);
  await change("custom_fields.ndjson", (field) => {
    for (const { values } of field.mappings ?? [])
      for (const entry of values) if (entry.value === "T1 North") entry.value = "T9 Far North";
    return field;
  });
  const { text } = await verify();
  assert.match(text, /[1-9]\d* changed since the run/);
  assert.ok(!/T1 North|T9 Far North/.test(text));
});

const REGION = "0f54ae5d6e353c46e3583e1f";

test("what the service still says is proven; what changed since the run is told with its cause", async (t) => {
  const { verify, change } = await night(t);
  const whole = await verify("--items", String(either(100, 1000)), "--seed", "1");
  assert.equal(whole.error, undefined);
  const all = `${either(100, 500)} items of the run`;
  const agree = `${either(100, 500)} agree, 0 changed since the run, 0 gone, 0 differ`;
  assert.match(whole.text, new RegExp(`^${all} 000001-\\S+ asked for again \\(seed 1\\): ${agree}\n$`));

  await change("custom_fields.ndjson", (field) => {
    for (const mapping of field.mappings ?? []) {
      for (const entry of mapping.values) if (entry.value === "T1 North") entry.value = "T9 Far North";
    }
    return field;
  });
  const again = ["--items", String(either(100, 500)), "--seed", "1"];
  const changed = await verify(...again, "--format", "json");
  assert.equal(changed.error, undefined);
  const { asked, agreeing, items } = parsed(changed.text);
  assert.deepEqual([asked, agreeing, items.length], either([100, 74, 26], [500, 364, 136]));
  for (const { verdict, differences } of items) {
    assert.equal(verdict, "changed");
    for (const { cause, columns, byTheAnswers } of differences) {
      assert.deepEqual(
        [cause, columns, byTheAnswers.externalValue],
        ["definition_changed", ["externalValue"], "T9 Far North"],
      );
    }
  }

  const gone = parsed(changed.text).items[0]?.contentId;
  await change("content.ndjson", (document) => {
    if (document.id === gone) return undefined;
    if (document.custom_fields?.[REGION] === undefined) return document;
    const custom_fields = { ...document.custom_fields, [REGION]: [] };
    return { ...document, custom_fields, updated_at: "2027-01-01T00:00:00.000000Z" };
  });
  const moved = await verify(...again);
  assert.equal(moved.error, undefined);
  assert.match(moved.text, /, 1 gone, 0 differ\n/);
  assert.match(
    moved.text,
    /│ +\d+ │ [0-9a-f]{24} │ Partner Portal +│ region +│ item changed +│ \S.* │ no row +│/,
  );
});

long(
  "destinations that the run looked up are looked up again, though they are configured no more",
  async (t) => {
    const { out, command } = await night(t);
    const { text } = await outcome(command, ["--items", "500", "--warehouse", out]);
    assert.match(text, /: 500 agree, 0 changed since the run, /);
  },
);

test("on a screen of 80 no ID and no name is cut, and the numbers say which parts are of one row", async (t) => {
  const { out, command, change } = await night(t);
  await change("custom_fields.ndjson", (field) => {
    for (const { values } of field.mappings ?? []) for (const entry of values) entry.value += " and more";
    return field;
  });
  const text = await capture(command, ["--items", "3", "--seed", "1", "--warehouse", out], 80);
  const lines = text.split("\n").map((line) => line.split("│").map((cell) => cell.trim()));
  const first = lines.filter((cells) => /^[0-9a-f]{24}$/.test(cells[2] ?? ""));
  const second = lines.filter((cells) => cells[2] === "definition changed");
  assert.ok(first.length > 4, text);
  assert.deepEqual(
    first.map((cells) => cells[1]),
    second.map((cells) => cells[1]),
  );
  for (const cells of first) assert.ok(!cells.some((cell) => cell.endsWith("…")), cells.join());
  assert.match(text, /\n--format json has all in full\n3 items of the run /);
});

long(
  "values that change while the item says that it did not are a difference that nothing explains: 31",
  async (t) => {
    const { verify, change } = await night(t);
    let changed = 0;
    await change("content.ndjson", (document) => {
      if (!Array.isArray(document.custom_fields?.[REGION]) || document.custom_fields[REGION].length === 0)
        return document;
      changed += 1;
      return { ...document, custom_fields: { ...document.custom_fields, [REGION]: [] } };
    });
    const { text, error } = await verify("--items", "500", "--seed", "x");
    assert.deepEqual([error?.code, error?.exitCode], ["verify.failed", 31]);
    assert.match(text, /│ region +│ NOTHING EXPLAINS IT +│ \S.* │ no row +│/);
    assert.ok(text.endsWith(`, ${changed} differ\n`), text.slice(-200));
  },
);

long("a published value that was never right is found, also beside a changed definition", async (t) => {
  const { out, verify, change } = await night(t);
  await change("custom_fields.ndjson", (field) => {
    for (const { values } of field.mappings ?? [])
      for (const entry of values) if (entry.value === "T1 North") entry.value = "North";
    return field;
  });
  for (const path of ["current", "current/warehouse.duckdb"]) await chmod(join(out, path), 0o755);
  const instance = await DuckDBInstance.create(join(out, "current", "warehouse.duckdb"));
  const connection = await instance.connect();
  await connection.run(
    `UPDATE content_mapped_values SET external_value = 'forged' WHERE external_field_name = 'locale' AND content_id =
       (SELECT min(content_id) FROM content_mapped_values WHERE external_field_name = 'locale' AND status = 'mapped')`,
  );
  await connection.run("CHECKPOINT");
  connection.closeSync();
  instance.closeSync();
  const { text, error } = await verify("--items", "500", "--format", "json");
  assert.equal(error?.exitCode, 31);
  assert.match(
    error?.message ?? "",
    /^Of 500 items 1 has mapped values in the run 000001-\S+ that the service's answers do not give/,
  );
  const wrong = parsed(text).items.filter((item) => item.verdict === "differs");
  const unexplained = wrong.flatMap((item) => item.differences).filter((each) => each.cause === null);
  assert.deepEqual(
    unexplained.map((each) => each.published.externalValue),
    ["forged"],
  );
});

long("the same seed asks for the same items, and another service or token is refused", async (t) => {
  const { verify, change } = await night(t);
  await change("content.ndjson", (document) => ({ ...document, custom_fields: {} }));
  const drawn = async (seed: string) => {
    const { items } = parsed((await verify("--items", "9", "--seed", seed, "--format", "json")).text);
    return items.map((item) => item.contentId).join();
  };
  assert.equal(await drawn("a"), await drawn("a"));
  assert.notEqual(await drawn("a"), await drawn("b"));
  const { error } = await verify("--items", "1", "--sample");
  assert.equal(error?.code, "config.other_instance");
  assert.match(
    error?.message ?? "",
    /this question reads the sample; name the service that the run read, or /,
  );
  assert.equal((await verify("--items", "1", "7")).error?.code, "config.not_found");
});
