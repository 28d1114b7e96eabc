/** What must fail, and how: by its code, in sentences, and without the token in any form. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { type ErrorCode, WarehouseError } from "../src/common/errors.ts";
import { basicCredentials, Secret } from "../src/common/secret.ts";
import { CANARY } from "./run/canary.ts";

/** The error that a promise must end with. */
export async function failsWith(code: ErrorCode, promise: Promise<unknown>): Promise<WarehouseError> {
  const error = await promise.then(
    (value) => assert.fail(`nothing was thrown, ${code} was expected; got ${inspect(value)}`),
    (thrown: unknown) => thrown,
  );
  return assertFailure(code, error);
}

/** The error that a call must throw. */
export function throwsWith(code: ErrorCode, act: () => unknown): WarehouseError {
  try {
    act();
  } catch (error) {
    return assertFailure(code, error);
  }
  assert.fail(`nothing was thrown, ${code} was expected`);
}

function assertFailure(code: ErrorCode, error: unknown): WarehouseError {
  assert.ok(error instanceof WarehouseError, inspect(error));
  assert.equal(error.code, code, inspect(error));
  const [first, ...faults] = error.message.split("\n  ");
  if (faults.length > 0) assert.match(first ?? "", /^The configuration has \d+ faults:$/);
  for (const sentence of faults.length > 0 ? faults : [first]) {
    // The words of the service end as they may.
    const own = sentence?.replace(/ It said: [^\n]*$/, "");
    assert.match(own ?? "", /^[^\n]{20,400}[.!)]$/, "is a sentence");
  }
  assertNoToken(error);
  return error;
}

/** Fails where a value shows the token, however deep. */
export function assertNoToken(value: unknown): void {
  const shown = inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  const credentials = basicCredentials(new Secret(CANARY)).slice("Basic ".length, -4);
  assert.ok(!shown.includes(CANARY) && !shown.includes(credentials), `the token shows in ${shown}`);
}
