/**
 * `node test/bench/nights.ts [items] [details] [whole|plain] [turns]`: what nights cost over one warehouse. A service
 * whose days pass at once has one event in ten; before each night one item in fifty is edited. Eight nights, one without
 * an edit, and the same with all single items read anew, whose rows must be equal. With `turns`: so many times a first night and one without a
 * change beside it, each time in an empty warehouse. Each night is a process of its own. `plain`: items have little but
 * a title. Prints a JSON line a night. No test asserts a time.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DuckDBInstance } from "@duckdb/node-api";
import { removeTree } from "../../src/common/tree.ts";
import { createService } from "../../src/service/service.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { generateContentSet } from "../generator/generate.ts";
import type { Night, NightReport } from "./night.ts";

const NIGHTS = 8;
const EDITED = 50;
const EVENTS = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
const REREAD_DAYS = 7;
const PLAIN = ["id", "slug", "content_type", "created_at", "updated_at", "title", "creator"];
/** Requests a second, of which the time of a run is computed. */
const RATE = 20;

const [, , count = "20000", details = "events", form = "whole", turns = "0"] = process.argv;
const folder = await mkdtemp(join(tmpdir(), "content-warehouse-nights-"));
try {
  await benchNights(folder);
} finally {
  await removeTree(folder);
}

async function benchNights(out: string): Promise<void> {
  const data = join(out, "set");
  await generateContentSet({ items: Number(count), seed: 1, out: data });
  await writeItems(data, await eventsIn(data));
  let day = 0;
  let port = 0;
  const night = async (name: string, rereadDays: number, warehouse = out) => {
    const now = () => Date.now() + day * DAY_MS;
    const service = await createService({ data, port, now });
    port = Number(new URL(service.url).port);
    const [token = ""] = service.contentSet.tokens.keys();
    try {
      const report = await ownProcess<NightReport>("night.ts", {
        folder: warehouse,
        url: service.url,
        token,
        details,
        rereadDays,
      } satisfies Night);
      const { requests, ...rest } = report;
      const seconds = Math.round(requests / RATE);
      process.stdout.write(`${JSON.stringify({ night: name, requests, seconds, ...rest })}\n`);
      return report;
    } finally {
      await service.close();
    }
  };
  for (let turn = 1; turn <= Number(turns); turn++) {
    const warehouse = join(out, String(turn));
    await mkdir(warehouse);
    await night(`first, turn ${turn}`, REREAD_DAYS, warehouse);
    await night(`none edited, turn ${turn}`, REREAD_DAYS, warehouse);
    await removeTree(warehouse);
  }
  if (turns !== "0") return;
  await night("first", REREAD_DAYS);
  for (day = 1; day < NIGHTS; day++) {
    await edit(data, day);
    await night(`one in ${EDITED} edited`, REREAD_DAYS);
  }
  const unchanged = await night("none edited", REREAD_DAYS);
  const anew = await night("none edited, all read anew", 0);
  process.stdout.write(
    `${JSON.stringify({ equal: await equalTables(unchanged.directory, anew.directory) })}\n`,
  );
}

interface Line {
  readonly title?: string | null;
  readonly content_type: string;
}

async function itemsIn(data: string, name = "content"): Promise<Line[]> {
  const lines = (await readFile(join(data, `${name}.ndjson`), "utf8")).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

async function writeItems(data: string, items: readonly object[]): Promise<void> {
  await writeFile(join(data, "content.ndjson"), items.map((item) => `${JSON.stringify(item)}\n`).join(""));
}

/** Items of which one in ten has a content type of events. */
async function eventsIn(data: string): Promise<object[]> {
  const types = JSON.parse(JSON.stringify(await itemsIn(data, "content_types")));
  const [event] = types.filter((type: { body_type: string }) => type.body_type === "event");
  const [other] = types.filter((type: { body_type: string }) => type.body_type !== "event");
  const ofEvents = new Set(
    types.flatMap((type: { id: string; body_type: string }) => (type.body_type === "event" ? type.id : [])),
  );
  return (await itemsIn(data)).map((item, place) => {
    const isEvent = place % EVENTS === 0;
    const shown = form === "plain" ? plain(item) : item;
    if (isEvent === ofEvents.has(item.content_type)) return shown;
    return { ...shown, content_type: isEvent ? event.id : other.id };
  });
}

function plain(item: Line): object {
  return Object.fromEntries(Object.entries(item).filter(([name]) => PLAIN.includes(name)));
}

/** One item in fifty, others each night. */
async function edit(data: string, day: number): Promise<void> {
  const updated_at = new Date(Date.now() + (day - 1) * DAY_MS).toISOString();
  const items = (await itemsIn(data)).map((item, place) =>
    (place + Math.floor(place / EDITED)) % EDITED === day
      ? { ...item, title: `${item.title} of day ${day}`, updated_at }
      : item,
  );
  await writeItems(data, items);
}

/** What a program of this folder prints. */
async function ownProcess<Report>(name: string, argument: object | string): Promise<Report> {
  const program = new URL(name, import.meta.url).pathname;
  const child = spawn(process.execPath, [program, JSON.stringify(argument)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  assert.equal(code ?? signal, 0, said);
  return JSON.parse(said);
}

/** How many tables of data have equal rows, but for when they were observed. Throws for one that has not. */
async function equalTables(one: string, other: string): Promise<number> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  await connection.run(`ATTACH '${join(one, "warehouse.duckdb")}' AS a (READ_ONLY)`);
  await connection.run(`ATTACH '${join(other, "warehouse.duckdb")}' AS b (READ_ONLY)`);
  const found = await connection.runAndReadAll(
    `SELECT table_name, string_agg('"' || column_name || '"', ', ') FILTER (column_name <> 'observed_at')
     FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
     WHERE database_name = 'a' AND schema_name = 'main' GROUP BY 1 ORDER BY 1`,
  );
  const tables = found
    .getRows()
    .filter(([name]) => !isAboutTheRun(String(name)) && !String(name).includes("histor"));
  for (const [name, columns] of tables) {
    const [left, right] = ["a", "b"].map((side) => `(SELECT ${columns} FROM ${side}.main."${name}")`);
    const counted = await connection.runAndReadAll(
      `SELECT (SELECT count(*) FROM (${left} EXCEPT ALL ${right})) + (SELECT count(*) FROM (${right} EXCEPT ALL ${left}))`,
    );
    assert.equal(Number(counted.getRows()[0]?.[0]), 0, `rows of ${name} differ`);
  }
  connection.closeSync();
  instance.closeSync();
  return tables.length;
}
