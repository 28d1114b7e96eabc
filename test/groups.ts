/**
 * Puts the files of tests into groups that have a process each, and prints what to run: to start a process and to load
 * the program takes longer than what most files do, and a first run takes twice as long as a second.
 *
 *     node test/groups.ts FOLDER
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { either } from "./long.ts";

/** Those of the long form take long: with few of them the last one would run alone. */
const GROUPS = either(6, 40);
/**
 * What is done before each test of a file would be done before each of its group; providers and memory are a process's.
 */
const ALONE = /^(?:before|after)Each\(|\bsetGlobal\w+\(|\bmemoryUsage\(/m;

const [folder = ""] = process.argv.slice(2);
const files = globSync(["*.test.ts", "!(engines)/**/*.test.ts"], { cwd: import.meta.dirname })
  .toSorted()
  .map((path) => join(import.meta.dirname, path));
const alone = files.filter((file) => ALONE.test(readFileSync(file, "utf8")));
const together = files.filter((file) => !alone.includes(file));

mkdirSync(folder, { recursive: true });
// Neighbours take alike: they go to different groups.
const groups = Array.from({ length: GROUPS }, (_, number) => {
  const group = join(folder, `group-${number}.mjs`);
  writeFileSync(group, moduleOf(together.filter((_each, index) => index % GROUPS === number)));
  return group;
});
process.stdout.write(`${[...groups, ...alone].join("\n")}\n`);

/** No test begins before all files are loaded: what some do while they are is not to be beside the tests of others. */
function moduleOf(group: readonly string[]): string {
  const imports = group.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});\n`);
  return `import { before } from "node:test";
const loaded = Promise.withResolvers();
before(() => loaded.promise);
${imports.join("")}loaded.resolve();
`;
}
