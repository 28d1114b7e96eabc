import assert from "node:assert/strict";
import { test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { loadContentSet } from "../../src/service/load.ts";
import { repeatContentSet } from "../../src/service/repeat.ts";

test("a set that is served three times has three times the items, each with an ID, a slug and times of its own", async (t) => {
  const set = await loadContentSet(packagePath("data/sample"));
  t.after(() => set.close());
  const { documents, outline } = await repeatContentSet(set, 3);
  const { count } = set.documents;
  assert.deepEqual([documents.count, outline.count], [3 * count, 3 * count]);
  const [first, second, third] = await documents.read([7, count + 7, 2 * count + 7]);
  assert.deepEqual(first, (await set.documents.read([7]))[0], "the first is the document itself");
  assert.deepEqual(
    [second?.id, second?.slug, third?.id],
    [`${first?.id}-1`, `${first?.slug}-1`, `${first?.id}-2`],
  );
  const times = [first, second, third].map((each) => each?.updated_at ?? "");
  assert.equal(new Set(times).size, 3);
  assert.equal(Date.parse(times[0] ?? "") - Date.parse(times[2] ?? ""), 2000);
  assert.deepEqual({ ...third, ...identityOf(first) }, first, "all else is as it was");
  assert.equal(outline.find(`${first?.slug}-2`), 2 * count + 7);
  assert.equal(outline.restricted.size, 3 * set.outline.restricted.size);
  const every = await documents.read([...Array(documents.count).keys()]);
  assert.equal(new Set(every.map(({ id }) => id)).size, 3 * count);
});

function identityOf(
  document: { id: string; slug: string; created_at: string; updated_at: string } | undefined,
) {
  assert.ok(document !== undefined);
  const { id, slug, created_at, updated_at } = document;
  return { id, slug, created_at, updated_at };
}
