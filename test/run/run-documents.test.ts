import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { outcome } from "../cli/capture.ts";
import { exportFrom, HurriedClock, MAPPING, rowsOf, temporaryFolder } from "./running.ts";
import { item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

const ANSWER =
  "SELECT request FROM run_documents WHERE content_id = 'c-002' AND shape = 'dynamic' ORDER BY observation DESC LIMIT 1";

/** Whether it is a page of documents with the item `c-006`, which nobody can read. */
function isDamaged({ kind, mode, page, perPage, columns }: Question): boolean {
  return kind === "list" && mode === "dynamic" && columns.length > 0 && Math.ceil(7 / perPage) === page;
}

/**
 * Each document says in its title which answer it is of, and `digests` has the SHA-256 of that. Between the passes
 * `c-002` is edited.
 */
async function numbered(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(12));
  const digests = new Map<string, string>();
  const answer = (question: Question): Reply | undefined => {
    const title = `answer ${question.number}`;
    const items = service.items.map((each) => ({ ...(each as object), title, custom_fields: {} }));
    const found = itemsOf(12).findIndex(({ id }) => id === question.id);
    const body = question.kind === "list" ? listBody(items, question) : { response: items[found] };
    const text = JSON.stringify(body);
    digests.set(title, hash("sha256", text));
    return { body: text };
  };
  service.script = (question) => {
    if (question.mode === "full" && question.kind === "list") {
      const edited = item("c-002", 2, { updated_at: "2026-11-19T00:00:00Z" });
      service.items = service.items.map((each, place) => (place === 2 ? edited : each));
    }
    if (isDamaged(question)) return { body: "{" };
    return question.kind === "list" || question.kind === "item" ? answer(question) : undefined;
  };
  return { service, digests };
}

test("each document names the request that it was the answer to, of an item that was repaired and of a page read in parts too", async (t) => {
  const { service, digests } = await numbered(t);
  const out = await temporaryFolder(t);
  const clock = new HurriedClock();
  const config = { perPage: 4 };
  const { directory } = await exportFrom({ url: service.url, out, clock, pipelineUrl: MAPPING, config });
  const documents = await rowsOf(
    directory,
    `SELECT d.content_id, d.shape, r.mode, json_extract_string(raw.document, '$.title'), r.sha256
     FROM run_documents d
     LEFT JOIN run_requests r USING (request)
     JOIN read_parquet('${directory}/raw/*/*.parquet', union_by_name = true) raw
       ON raw.content_id = d.content_id AND raw.shape = d.shape AND raw.observation = d.observation
     ORDER BY d.content_id, d.observation`,
  );
  const named = documents.map(([id, shape, mode, title]) => [id, shape, mode, digests.get(String(title))]);
  const sent = documents.map(([id, shape, mode, , sha256]) => [id, shape, mode, sha256]);
  assert.deepEqual(sent, named);
  const singly = documents.filter(([, , mode]) => mode === "item").map(([id, shape]) => `${id} ${shape}`);
  assert.deepEqual(singly, ["c-002 full", "c-002 dynamic", "c-006 dynamic"]);
  const [[request] = []] = await rowsOf(directory, ANSWER);
  const told = await outcome(explainCommand, ["c-002", "--warehouse", out]);
  assert.ok(told.text.includes(`, read with request ${request}, `), told.text);
});
