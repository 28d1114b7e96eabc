/** What tests and the bench are given. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DYNAMIC_COLUMN_NAMES, isDynamicColumn } from "../../src/api/dynamic.ts";
import { packagePath } from "../../src/common/package-root.ts";
import type { CustomField, Document } from "../../src/service/content-set.ts";
import { createService } from "../../src/service/service.ts";
import { temporaryFolder } from "../folders.ts";
import { ask } from "../service/ask.ts";
import { generateContentSet } from "./generate.ts";

interface WireField {
  readonly resource: string;
  readonly path: string;
  readonly type: string;
  readonly default?: string;
}

/** Every value that stands at a path of a document: `a.b[].c`; `{file}` stands for any key. */
function valuesAt(found: unknown, path: string): unknown[] {
  if (path === "") return [found];
  if (found === null || typeof found !== "object") return [];
  const [head = "", ...rest] = path.split(".");
  const name = head.replace(/\[\]$/, "");
  const inner: unknown[] = name === "{file}" ? Object.values(found) : [Reflect.get(found, name)];
  const each = head.endsWith("[]") ? inner.flat(1) : inner;
  return each.flatMap((one) => valuesAt(one, rest.join(".")));
}

/** Neither nothing nor the specification's default. */
function saysSomething(value: unknown, field: WireField): boolean {
  if (value === undefined || value === null) return false;
  const text = JSON.stringify(value);
  if (field.default !== undefined && field.default !== "none")
    return text !== field.default && value !== field.default;
  return text !== '""' && text !== "[]" && text !== "{}" && text !== "false";
}

async function lines<T>(path: string, name: string): Promise<T[]> {
  const text = await readFile(join(path, `${name}.ndjson`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line): T => JSON.parse(line));
}

test("every field of the specification that a content set states has a value somewhere when it is served", async (t) => {
  const data = await temporaryFolder(t);
  await generateContentSet({ items: 350, seed: 1, out: data });
  const service = await createService({ data });
  t.after(() => service.close());
  const get = async (path: string) => {
    const answer = await ask(service, `/api/v1/${path}`, { token: "sample-token" });
    assert.equal(answer.status, 200, path);
    return JSON.parse(answer.bytes.toString());
  };
  const columns = DYNAMIC_COLUMN_NAMES.map((name) => `columns[]=${name}`).join("&");
  const pages = async (query: string) => {
    const all = [];
    for (let page = 1; page <= 4; page++) all.push(await get(`content?per_page=100&page=${page}&${query}`));
    return all;
  };
  const items = (envelopes: { response: unknown[] }[]) => envelopes.flatMap(({ response }) => response);
  const dynamic = await pages(`gallery=true&${columns}`);
  const content = await lines<Document>(data, "content");
  const events = content.filter(({ event, payment }) => event !== undefined || payment).slice(0, 60);
  const singles = await Promise.all(events.map(({ id }) => get(`content/${id}?gallery=true&${columns}`)));
  const names = (await lines<CustomField>(data, "custom_fields"))
    .map(({ name }) => `name[]=${encodeURIComponent(name)}`)
    .join("&");
  const seen: Record<string, unknown[]> = {
    destination: await get("destinations?name=Web%20CMS&platform=External"),
    custom_field_definition: await get(`custom_fields_reference?${names}`),
    envelope: dynamic,
    basic: items(await pages("detail=basic")),
    full: items(await pages("detail=full")),
    dynamic: [...items(dynamic), ...singles.map(({ response }) => response)],
  };
  const spec: WireField[] = JSON.parse(await readFile(packagePath("test/fixtures/fields.json"), "utf8"));
  const silent = spec.filter((field) => {
    const values = (seen[field.resource] ?? []).flatMap((one) => valuesAt(one, field.path));
    return !values.some((value) => saysSomething(value, field));
  });
  const stated = new Set(
    content.flatMap(({ event, gallery, ...facts }) => Object.keys({ ...event, ...gallery, ...facts })),
  );
  /** A column that no document states is sent as its default; the service's own tests hold computed columns. */
  const isDefault = ({ resource, path }: WireField) =>
    resource === "dynamic" && isDynamicColumn(path) && !stated.has(path);
  assert.deepEqual(
    silent.filter((field) => !isDefault(field)).map(({ path }) => path),
    // Users of the dynamic set do not say who is a superadmin, and a next task is never completed.
    ["author_details.superadmin", "creator_details.superadmin", "next_task.completed"],
  );
});
