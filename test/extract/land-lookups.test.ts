import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { Lookups, landLookups } from "../../src/extract/lookups.ts";
import { Drift } from "../../src/raw/drift.ts";
import { type PolicySettings, personalHash } from "../../src/raw/personal/policy.ts";
import { RawPaths, readFolderLookups } from "../../src/raw/raw-folder.ts";
import { NEVER } from "../never.ts";
import { DROP, HASH, HASH_KEY, KEEP } from "../policies.ts";
import { temporaryFolder } from "../run/running.ts";
import { clientOf, serve } from "./loopback.ts";

const SHOP = '{"id":"d1","identification":"Shop","platform":"External","contact_email":"anna@example.com"}';
const WIKI = '{"id":"d2","identification":"Wiki","platform":"External"}';
const COLOR = `{"id":"f1","name":"color","limit":12345678901234567890,"mappings":[
  {"id":"m1","external_site_id":"d1","reviewer":{"id":"u1","email":"anna@example.com","rank":1}}]}`;

/** Rows of the raw files of a folder. */
async function rowsIn(directory: string, columns: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const sql = `SELECT ${columns} FROM '${join(directory, "raw/*/*.parquet")}' ORDER BY content_id`;
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** What lands of two destinations and a custom field, which came at these seconds after two o'clock. */
async function landed(t: TestContext, personal: PolicySettings) {
  const { url } = await serve(t, async (request, response) => {
    const query = new URL(request.url ?? "", "http://host").searchParams;
    const destination = query.get("name") === "Shop" ? `[${SHOP}]` : `[${SHOP},${WIKI}]`;
    const [body, second] = request.url?.includes("destinations")
      ? [destination, query.get("name") === "Shop" ? 1 : 2]
      : [`[${COLOR}]`, 3];
    response.writeHead(200, { date: `Fri, 20 Nov 2026 02:00:0${second} GMT` }).end(body);
  });
  const lookups = new Lookups(clientOf(t, url), "get");
  const wanted = ["Shop", "Wiki"].map((name) => ({ name, platform: "External" }));
  const directory = await temporaryFolder(t);
  const drift = new Drift();
  landLookups(await lookups.destinations(wanted, NEVER), await lookups.customFields(["color"], NEVER), {
    files: new RawPaths(join(directory, "raw"), 12),
    personal,
    drift,
  });
  return { directory, drift };
}

test("the answers of the lookups land once each, with the place and the Date of their answers", async (t) => {
  const { directory } = await landed(t, KEEP);
  const rows = await rowsIn(
    directory,
    `content_id, shape, mode, "pass", page, "position", whole, observation::VARCHAR, observed_at::VARCHAR,
     unknown_fields, large_numbers, sha256 = sha256(document)`,
  );
  const last = String(Number.MAX_SAFE_INTEGER);
  const at = (second: number) => `2026-11-20 02:00:0${second}+00`;
  assert.deepEqual(rows, [
    ["d1", "destination", "destinations", 0, 1, 0, true, last, at(1), 1, false, true],
    ["d2", "destination", "destinations", 0, 2, 1, true, last, at(2), 0, false, true],
    ["f1", "custom_field_definition", "custom_fields", 0, 1, 0, true, last, at(3), 2, true, true],
  ]);
});

test("what is read back has every digit, and its unknown fields again", async (t) => {
  const { directory } = await landed(t, KEEP);
  const { destinations, definitions } = readFolderLookups(join(directory, "raw"));
  assert.deepEqual(
    destinations.map(({ id, answer }) => [id, JSON.stringify(answer)]),
    [
      ["d1", SHOP],
      ["d2", WIKI],
    ],
  );
  const [color] = definitions;
  assert.match(JSON.stringify(color?.answer), /"limit":12345678901234567890[,}]/);
  assert.deepEqual(color?.unknown.map(({ path }) => path.join(".")).sort(), [
    "limit",
    "mappings.[].reviewer",
  ]);
});

test("the personal-data policy is applied before anything is written, and once", async (t) => {
  const hashed = await landed(t, HASH);
  const [shop] = readFolderLookups(join(hashed.directory, "raw")).destinations;
  assert.equal(shop?.answer.contact_email, personalHash(HASH_KEY, "contact_email", "anna@example.com"));
  assert.deepEqual(
    shop?.unknown.map(({ path, value }) => [path, value]),
    [[["contact_email"], shop?.answer.contact_email]],
  );
  const dropped = await landed(t, DROP);
  const texts = await rowsIn(dropped.directory, "document::VARCHAR");
  assert.ok(texts.length === 3 && !JSON.stringify(texts).includes("anna@"));
  assert.deepEqual(
    dropped.drift.sorted().map(({ path, kind, count }) => [path, kind, count]),
    [
      ["custom_field_definition.limit", "unknown_field", 1],
      ["custom_field_definition.mappings[].reviewer.email", "personal_dropped", 1],
      ["custom_field_definition.mappings[].reviewer", "unknown_field", 1],
      ["destination.contact_email", "personal_dropped", 1],
      ["destination.contact_email", "unknown_field", 1],
    ],
  );
});
