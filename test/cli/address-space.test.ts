import assert from "node:assert/strict";
import { test } from "node:test";
import { asWarehouseError } from "../../src/common/errors.ts";
import { assertAddressSpace } from "../../src/run/prepare.ts";

const limits = (bytes: string) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax address space         ${bytes.padEnd(20)} unlimited            bytes     \n`;

test("F11: a limit on address space is refused where a run of so many threads does not fit into it", () => {
  assertAddressSpace(limits("unlimited"), 8);
  assertAddressSpace("", 8);
  assertAddressSpace(limits("12000000000"), 2);
  assert.throws(() => assertAddressSpace(limits("12000000000"), 3), {
    code: "config.invalid",
    message: /^The limit on virtual memory \(ulimit -v\) is 12000\.0 MB, and a run reserves 12200\.0 MB/,
  });
});

test("F11: running out of memory is reported as such, wherever it shows", () => {
  const failed = (message: string, code?: string) => Object.assign(new Error(message), { code });
  for (const thrown of [
    failed(
      "Worker terminated due to reaching memory limit: JS heap out of memory",
      "ERR_WORKER_OUT_OF_MEMORY",
    ),
    failed("Worker initialization failure: EAGAIN", "ERR_WORKER_INIT_FAILED"),
    failed("WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance"),
    new RangeError("Array buffer allocation failed"),
    failed("libduckdb.so: failed to map segment from shared object", "ERR_DLOPEN_FAILED"),
    failed("not enough memory", "ENOMEM"),
  ]) {
    const { code, exitCode, message } = asWarehouseError(thrown);
    assert.deepEqual([code, exitCode], ["internal", 1]);
    assert.match(message, /^The program ran out of memory; give/);
  }
  assert.match(asWarehouseError(new Error("out of memory of what was")).message, /^Unexpected failure/);
});
