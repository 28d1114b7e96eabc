import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readSettings } from "../../src/config/read-spec.ts";

const LAKE = { type: "lake", url: "file:///srv/lake", instance: "north" };
const POSTGRES = { type: "postgres", url: "postgres://loader@db.example.com/reports" };

function read(targets: readonly unknown[], instance?: string) {
  return readSettings("c.json", { targets }, instance, () => () => null);
}

suite("targets in JSON", () => {
  test("that are right have no faults", () => {
    assert.equal(read([LAKE, POSTGRES]).targets.length, 2);
  });

  const CASES: readonly (readonly [target: unknown, sentence: string])[] = [
    [
      { ...LAKE, type: "lakes" },
      "`targets[1].type`: Invalid discriminator value. Expected 'lake' | 'postgres'.",
    ],
    [{ ...LAKE, instnce: "a" }, '`targets[1]`: Unrecognized key: "instnce" (did you mean "instance"?).'],
    [
      { ...LAKE, secretAccessKey: "s" },
      '`targets[1]`: Unrecognized key: "secretAccessKey"; credentials come from the environment or from separate files.',
    ],
    [{ type: "postgres" }, "`targets[1].url`: Invalid input: expected string, received undefined."],
    [
      { ...POSTGRES, url: "https://db.example.com" },
      "`targets[1].url`: expected an address such as postgres://user@host/database.",
    ],
    [
      { ...POSTGRES, url: "postgres://loader:hunter2@db.example.com/reports" },
      "`targets[1].url`: has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE.",
    ],
    [
      { ...LAKE, url: "lake" },
      '`targets[1]`: url: expected file:///folder, or s3://bucket/prefix with letters, digits, ".", "_", "=" and "-"; credentials come from the environment or the files of the AWS tools.',
    ],
    [
      { ...LAKE, instance: "No name" },
      "`targets[1].instance`: expected a name of lower-case letters, digits and hyphens, 63 at most.",
    ],
    [LAKE, '`targets`: two have the name "lake"; set a different `name` for each.'],
  ];
  test("that are wrong are told by place, in one sentence", () => {
    for (const [target, sentence] of CASES) {
      const first = target === LAKE ? LAKE : { ...LAKE, name: "first" };
      assert.throws(() => read([first, target]), { code: "config.invalid", message: `c.json: ${sentence}` });
    }
  });

  test("a lake's instance may come from a variable, and where it does not, the variable is named", () => {
    const { instance: _instance, ...shared } = LAKE;
    const message =
      "c.json: `targets[0]`: lake: instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE.";
    assert.throws(() => read([shared]), { message });
    read([shared], "north");
    assert.throws(() => read([shared], "No name"), {
      message: /^c\.json: `targets\[0\]`: lake: instance: expected/,
    });
  });
});
