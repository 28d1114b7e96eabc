import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { basicCredentials, REDACTED, redactor, Secret } from "../../src/common/secret.ts";
import fc from "../properties.ts";

const CANARY = "CANARY-TOK-9f/3+b c\u00fb\u00ff\u00fe";

test("S4: a secret prints as [redacted] however it becomes text", () => {
  const secret = new Secret(CANARY);
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    inspect(new Error("x", { cause: { secret } }), { depth: Number.POSITIVE_INFINITY }),
    Object.keys(secret).join(),
  ].join("\n");
  assert.ok(!shown.includes(CANARY));
  assert.ok(shown.includes(REDACTED));
  assert.equal(secret.reveal(), CANARY);
});

test("S4: every form of a secret is replaced", () => {
  const redact = redactor([new Secret(CANARY)]);
  const forms = [
    CANARY,
    encodeURIComponent(CANARY),
    new URLSearchParams({ token: CANARY }).toString(),
    JSON.stringify({ token: CANARY }),
    basicCredentials(new Secret(CANARY)),
    Buffer.from(`${CANARY}:`).toString("base64"),
    Buffer.from(`${CANARY}:another password`).toString("base64"),
    Buffer.from(`${CANARY}:x`).toString("base64url"),
    encodeURIComponent(Buffer.from(`${CANARY}:x`).toString("base64")),
  ];
  for (const form of forms) {
    const shown = redact(`before ${form} after`);
    assert.ok(shown.startsWith("before ") && shown.endsWith(" after"), shown);
    assert.ok(shown.includes(REDACTED), shown);
    for (const other of forms) assert.ok(!shown.includes(other), shown);
  }
});

test("S4: a secret that is part of another leaves nothing of the longer one behind", () => {
  for (const order of [
    ["xk9", "xk9-long"],
    ["xk9-long", "xk9"],
  ]) {
    const redact = redactor(order.map((value) => new Secret(value)));
    assert.equal(redact("xk9-long xk9"), `${REDACTED} ${REDACTED}`);
  }
});

test("S4: a secret that occurs in the replacement does not spoil it", () => {
  assert.equal(
    redactor([new Secret("red"), new Secret("token-1")])("token-1 red"),
    `${REDACTED} ${REDACTED}`,
  );
});

test("a secret of one letter leaves the rest of a text as it is", () => {
  assert.equal(redactor([new Secret("x")])("six taps"), `si${REDACTED} taps`);
});

test("an empty secret replaces nothing, and without secrets a text stays as it is", () => {
  assert.equal(redactor([new Secret("")])("text"), "text");
  assert.equal(redactor([])("text"), "text");
});

test("S4: no secret survives, whatever characters it has", () => {
  const value = fc
    .string({ minLength: 4, maxLength: 40, unit: "grapheme" })
    .filter((s) => !REDACTED.includes(s));
  fc.assert(
    fc.property(value, fc.string(), fc.string(), (secret, before, after) => {
      const redact = redactor([new Secret(secret)]);
      for (const form of [secret, basicCredentials(new Secret(secret)).slice("Basic ".length)]) {
        const shown = redact(`${before} ${form} ${after}`);
        assert.ok(!shown.includes(form) || `${before}${after}`.includes(form));
      }
    }),
  );
});
