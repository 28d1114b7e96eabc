import assert from "node:assert/strict";
import { test } from "node:test";
import { metricsText } from "../../src/observe/prometheus.ts";
import { uuidOf } from "../../src/observe/uuid.ts";

test("metrics escape what would end a label or a line, and leave out those without a sample", () => {
  const odd = { name: "odd", help: "a\\b\nc", samples: [{ labels: { path: 'C:\\x"\n' }, value: 1.5 }] };
  const text = metricsText([odd, { name: "none", help: "None.", samples: [] }]);
  assert.equal(text, '# HELP odd a\\\\b\\nc\n# TYPE odd gauge\nodd{path="C:\\\\x\\"\\n"} 1.5\n');
});

test("IDs of runs are UUIDs of version 7: the same for the same run, and in the order of the starts", () => {
  const atMs = Date.UTC(2026, 10, 20, 2);
  const id = uuidOf(atMs, "run 1");
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(Number.parseInt(id.replace("-", "").slice(0, 12), 16), atMs);
  assert.equal(uuidOf(atMs, "run 1"), id);
  assert.notEqual(uuidOf(atMs, "run 2"), id);
  assert.ok(uuidOf(atMs + 1, "run 1") > uuidOf(atMs, "run 2"));
});
