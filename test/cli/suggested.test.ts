import assert from "node:assert/strict";
import { test } from "node:test";
import { everyCommand, program } from "../../src/cli/program.ts";
import { type Given, placed, TAKEN } from "../../src/cli/suggested.ts";

test("a suggested command names the places that were given, quoted", () => {
  const given = { warehouse: "/srv/my warehouse", config: "cw.config.json", target: "lake" };
  const folder = "--warehouse '/srv/my warehouse' --config cw.config.json";
  const said = (text: string, more: Given = {}) => placed(text, { ...given, ...more });
  assert.equal(placed('"content-warehouse deliver" does it', {}), '"content-warehouse deliver" does it');
  assert.equal(said("content-warehouse deliver"), `content-warehouse deliver --target lake ${folder}`);
  assert.equal(
    said('"content-warehouse runs prune", then "content-warehouse lake vacuum".'),
    `"content-warehouse runs prune ${folder}", then "content-warehouse lake vacuum --target lake --config cw.config.json".`,
  );
  assert.equal(
    said('run "content-warehouse run" again', { run: "nightly --sample" }),
    `run "content-warehouse run nightly --sample ${folder}" again`,
  );
  for (const whole of ["run nightly --sample", "init", "lake vacuum --config a", "runs --help"])
    assert.equal(said(`"content-warehouse ${whole}"`), `"content-warehouse ${whole}"`);
});

test("what a suggested command is given, it takes", async () => {
  const commands = (await program()).commands;
  for (const [name, options] of Object.entries(TAKEN)) {
    const command = commands.find((each) => each.name() === name);
    assert.ok(command !== undefined, name);
    const parts = command.commands.length === 0 ? [command] : command.commands;
    for (const part of parts)
      for (const option of options)
        assert.ok(
          part.options.some(({ long }) => long === `--${option}`),
          `${name} ${part.name()} --${option}`,
        );
  }
});

test("whatever takes a warehouse takes the configuration that says where it is", async () => {
  const longs = everyCommand(await program()).map((command) => ({
    name: command.name(),
    options: command.options.map(({ long }) => long),
  }));
  // `serve` serves what is in a folder.
  const readers = longs.filter(({ name, options }) => options.includes("--warehouse") && name !== "serve");
  assert.ok(readers.length > 20, readers.map(({ name }) => name).join());
  for (const { name, options } of readers) assert.ok(options.includes("--config"), name);
});

test("whatever answers as JSON by --format does so by --json", async () => {
  const formatted = everyCommand(await program()).filter(({ options }) =>
    options.some(({ long, argChoices }) => long === "--format" && argChoices?.includes("json")),
  );
  assert.ok(formatted.length > 12, String(formatted.length));
  for (const { name, options } of formatted.map((each) => ({ name: each.name(), options: each.options })))
    assert.ok(
      options.some(({ long }) => long === "--json"),
      name,
    );
});
