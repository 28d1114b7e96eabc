import assert from "node:assert/strict";
import { test } from "node:test";
import { everyCommand, program } from "../../src/cli/program.ts";
import { suggested } from "../../src/cli/suggested.ts";

test("a suggested command names the places that were given, quoted, and an instance in their place", () => {
  const given = { warehouse: "/srv/my warehouse", config: "cw.config.json" };
  assert.equal(suggested("deliver", {}), "content-warehouse deliver");
  assert.equal(
    suggested("runs unpin", given),
    "content-warehouse runs unpin --warehouse '/srv/my warehouse' --config cw.config.json",
  );
  const chosen = { fleet: { path: "/srv/fleet.json" }, instance: { name: "north" } };
  assert.equal(
    suggested("deliver", { ...given, chosen, target: "lake" }),
    "content-warehouse deliver --target lake --instance north --fleet /srv/fleet.json",
  );
});

test("whatever takes a warehouse takes the configuration that says where it is", async () => {
  const longs = everyCommand(await program()).map((command) => ({
    name: command.name(),
    options: command.options.map(({ long }) => long),
  }));
  // `init` writes a configuration, and `serve` serves what is in a folder.
  const readers = longs.filter(
    ({ name, options }) => options.includes("--warehouse") && !["init", "serve"].includes(name),
  );
  assert.ok(readers.length > 20, readers.map(({ name }) => name).join());
  for (const { name, options } of readers) assert.ok(options.includes("--config"), name);
});
