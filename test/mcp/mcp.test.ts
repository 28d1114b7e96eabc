import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { z } from "zod";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { VERSION } from "../../src/common/version.ts";
import { MCP_SDK } from "../../src/mcp/server.ts";
import { sampleWarehouse } from "../audit/sample.ts";
import { capture } from "../cli/capture.ts";
import { program, start } from "../cli/running.ts";
import { either, few } from "../long.ts";
import { nodeWithout } from "../without-package.ts";
import { call, connect } from "./client.ts";

const out = await sampleWarehouse();

const connected = (...args: string[]) => connect(["--warehouse", out, ...args]);

suite("an assistant that speaks the Model Context Protocol", () => {
  let client: Client;
  before(async () => {
    client = await connected();
  });
  after(() => client.close());

  async function answered(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { text, isError } = await call(client, name, args);
    assert.equal(isError, false, text);
    return text;
  }

  async function refused(name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    const { text, isError } = await call(client, name, args);
    assert.equal(isError, true, text);
    assert.match(text, /^[^\n]+\.$/);
    return text;
  }

  test("finds the tools, each read-only and with a description", async () => {
    assert.deepEqual(client.getServerVersion(), { name: "content-warehouse", version: VERSION });
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["list_tables", "describe_table", "query", "explain_item", "audit_mappings", "diff_runs"],
    );
    for (const { description, annotations } of tools) {
      assert.match(description ?? "", /\.$/);
      assert.equal(annotations?.readOnlyHint, true);
    }
  });

  test("lists the tables and describes one, with the comments of the warehouse", async () => {
    const tables = z
      .array(z.object({ name: z.string(), kind: z.string(), comment: z.string().nullable() }))
      .parse(JSON.parse(await answered("list_tables")));
    assert.equal(tables.find(({ name }) => name === "content")?.kind, "table");
    assert.equal(tables.find(({ name }) => name === "mapping_coverage")?.kind, "view");
    assert.ok(tables.every(({ comment }) => comment !== null));
    const columns = JSON.parse(await answered("describe_table", { table: "content" }));
    assert.equal(columns[0].name, "content_id");
    const users: { name: string; comment: string }[] = JSON.parse(
      await answered("describe_table", { table: "users" }),
    );
    assert.equal(
      users.find(({ name }) => name === "name")?.comment,
      "Name. Dropped by the personal-data policy.",
    );
    const read =
      "SELECT DISTINCT single_item_read AS read, body_type = 'event' AS event FROM content ORDER BY ALL";
    assert.deepEqual(JSON.parse(await answered("query", { sql: read })).rows, [
      { read: false, event: false },
      { read: true, event: true },
    ]);
    assert.equal(
      await refused("describe_table", { table: "contnet" }),
      'There is no table "contnet" in the warehouse. The nearest is "content".',
    );
  });

  test("asks in SQL, and is told whether the rows are all there are", async () => {
    const one = JSON.parse(await answered("query", { sql: "SELECT count(*) AS items FROM content" }));
    assert.deepEqual(one, { whole: true, rows: [{ items: 500 }] });
    for (const max_rows of either([5], [4, 5, 6])) {
      const sql = "SELECT range AS n FROM range(5)";
      const { whole, rows } = JSON.parse(await answered("query", { sql, max_rows }));
      assert.deepEqual([whole, rows.length], [max_rows >= 5, Math.min(max_rows, 5)]);
    }
    const many = JSON.parse(await answered("query", { sql: "SELECT range AS n FROM range(1000000)" }));
    assert.deepEqual([many.whole, many.rows.length, many.rows[199].n], [false, 200, 199]);
    assert.deepEqual(JSON.parse(await answered("query", { sql: "FROM content WHERE false" })).rows, []);
  });

  test("cannot write, reach a file or leave the sandbox", async () => {
    const forbidden = [
      ["DELETE FROM content", /DELETE is not a question/],
      ["SET threads = 1", /SET is not a question/],
      ["--warehouse=/tmp", /There is no SQL statement/],
      ["SELECT 1; SELECT 2", /There are 2 SQL statements/],
      ["FROM read_csv('/etc/passwd')", /disabled by configuration/],
    ] as const;
    for (const [sql, why] of few(forbidden, 2)) assert.match(await refused("query", { sql }), why);
  });

  test("has an item explained, with the steps if it asks for them", async () => {
    const asked = { item: "fellgate-mid", destination: "Print Archive" };
    const { payloads, values, steps, destinations } = JSON.parse(await answered("explain_item", asked));
    assert.deepEqual(
      destinations.map(({ destinationId: _, ...rest }: Record<string, unknown>) => rest),
      [{ identification: "Print Archive", lookedUp: true, supportsMappings: false }],
    );
    assert.deepEqual(
      payloads.map(({ external_field_name, values: sent }: Record<string, unknown>) => [
        external_field_name,
        sent,
      ]),
      [["SECTION", ["D"]]],
    );
    assert.equal(values.find(({ status }: { status: string }) => status === "unmapped").value, "AW24");
    assert.equal(steps, undefined);
    const { steps: rules, evidence } = JSON.parse(await answered("explain_item", { ...asked, steps: true }));
    assert.equal(rules[0].rule, 1);
    assert.match(evidence[0].sha256, /^[0-9a-f]{64}$/);
    assert.match(await refused("explain_item", { item: "fellgate-mdi" }), /The nearest is "fellgate-mid"\./);
    assert.match(
      await refused("explain_item", { item: "--debug" }),
      /has no item "--debug", .* a query over the table content may find it\.$/,
    );
  });

  test("asks for coverage, and for the difference of two runs", async () => {
    const narrow = ["--destination", "Web CMS", "--field", "region"];
    const text = await answered("audit_mappings", { destination: "Web CMS", field: "region" });
    const ofCommand = await capture(auditCommand, [...narrow, "--format", "json", "--warehouse", out]);
    assert.equal(text, ofCommand, "what the command gives as JSON");
    const { run, coverage } = JSON.parse(text);
    assert.match(run, /^000001-/);
    assert.deepEqual([coverage.length, coverage[0].custom_field], [1, "region"]);
    assert.match(await refused("audit_mappings", { field: "regoin" }), /The nearest is "region"\./);
    assert.doesNotMatch(await refused("audit_mappings", { run: "7" }), /runs list/);
    const same = JSON.parse(await answered("diff_runs", { before: "1", after: "1" }));
    assert.deepEqual([same.values_changed, same.lines], [0, []]);
    assert.match(await refused("diff_runs", {}), /one run alone/);
    assert.match(await refused("diff_runs", { before: "7", after: "1" }), /knows a run "7"/);
  });
});

test("an answer takes no more rows or bytes than the server was started with", async () => {
  const client = await connected("--max-rows=3", "--max-bytes=400");
  after(() => client.close());
  const rows = JSON.parse((await call(client, "query", { sql: "FROM range(10)" })).text);
  assert.deepEqual([rows.whole, rows.rows.length], [false, 3]);
  const long = JSON.parse(
    (await call(client, "query", { sql: "SELECT repeat('x', 150) AS x FROM range(3)" })).text,
  );
  assert.deepEqual([long.whole, long.rows.length], [false, 2]);
  assert.deepEqual(await call(client, "audit_mappings"), {
    text: "The answer is longer than 400 bytes; narrow the question; --max-bytes of the server sets the limit.",
    isError: true,
  });
});

test("a question that is under way when the client is gone is told to be that, and not a failure", async () => {
  const { child, ended } = start(["mcp", "--warehouse", out], { stdio: ["pipe", "pipe", "inherit"] });
  const clientInfo = { name: "test", version: "1" };
  const sql = "SELECT count(*) FROM range(1000000000000) a";
  const messages = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "query", arguments: { sql } } },
  ];
  child.stdin?.end(messages.map((each) => `${JSON.stringify({ jsonrpc: "2.0", ...each })}\n`).join(""));
  const [, answer] = (await ended).stdout.trim().split("\n");
  assert.deepEqual(JSON.parse(answer ?? "").result, {
    content: [{ type: "text", text: "The client closed the connection before this was answered." }],
    isError: true,
  });
});

test("a warehouse that is not there is told before any message, with exit code 2", async () => {
  const { code, stdout, stderr } = await program(["mcp", "--warehouse", "nowhere"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /^There is no warehouse in .*\n$/);
});

test("without the SDK, the command says how to install it", async () => {
  const { code, stdout, stderr } = await program(["mcp", "--warehouse", out], {
    node: nodeWithout("@modelcontextprotocol/sdk"),
  });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.ok(stderr.includes(`npm install --global ${MCP_SDK}`), stderr);
});
