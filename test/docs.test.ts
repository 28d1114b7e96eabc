import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeTree } from "../src/common/tree.ts";
import {
  NAMED_THINGS,
  NO_PERSONS_BY,
  OF_PERSON,
  PERSONAL_ENDINGS,
  PERSONAL_WORDS,
  PERSONS,
} from "../src/raw/personal/names.ts";
import { isRunTable, TABLES } from "../src/tables/all.ts";
import { VIEWS } from "../src/tables/views.ts";
import { program } from "./cli/running.ts";
import { dataDictionary } from "./data-dictionary.ts";
import { long } from "./long.ts";
import { QUESTIONS, questionsIn } from "./questions.ts";

const ROOT = new URL("..", import.meta.url);

const out = await mkdtemp(join(tmpdir(), "content-warehouse-readme-"));
after(async () => removeTree(out));

/** How many questions a page has. */
const PAGES = { "docs/questions.md": 20, "docs/tables.md": 3 };

/** With UPDATE_DOCS=1 the answers are written into the pages instead. */
long("the questions of the pages have the answers that the sample gives", async () => {
  const answer = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await program([...args, "--warehouse", out]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await answer("run", "nightly", "--sample");
  for (const [name, number] of Object.entries(PAGES)) {
    const file = new URL(name, ROOT);
    const page = await readFile(file, "utf8");
    assert.equal(questionsIn(page).length, number);
    const answers = new Map<string, string>();
    for (const [, sql = ""] of page.matchAll(QUESTIONS)) answers.set(sql, await answer("sql", sql));
    const answered = page.replace(
      QUESTIONS,
      (_block, sql: string) => `\`\`\`sql\n${sql}\`\`\`\n\n\`\`\`text\n${answers.get(sql)}\`\`\``,
    );
    if (process.env.UPDATE_DOCS === "1") await writeFile(file, answered);
    else assert.equal(page, answered);
  }
});

const DICTIONARY = /(?<=<!-- written by .* -->\n)[\s\S]*?(?=<!-- end of the data dictionary -->)/;

/** With UPDATE_DOCS=1 it is written into the page instead. */
test("docs/dictionary.md is that of the declared tables and views", async () => {
  const file = new URL("docs/dictionary.md", ROOT);
  const page = await readFile(file, "utf8");
  const expected = `\n${dataDictionary([...TABLES, ...VIEWS])}\n`;
  if (process.env.UPDATE_DOCS === "1")
    await writeFile(
      file,
      page.replace(DICTIONARY, () => expected),
    );
  else assert.equal(DICTIONARY.exec(page)?.[0], expected, "UPDATE_DOCS=1 npm test -- test/docs.test.ts");
});

test("README and docs/pipelines.md say how many tables and views there are", async () => {
  const about = TABLES.filter(({ name }) => isRunTable(name)).length;
  for (const [page, sentence] of [
    [
      "README.md",
      `${TABLES.length} typed, commented, joinable tables (${TABLES.length - about} of data, ${about} about the run)`,
    ],
    [
      "docs/pipelines.md",
      ` ${TABLES.length} tables and ${VIEWS.length} views, with comments; beside them one that content_wide reads`,
    ],
  ] as const)
    assert.ok((await readFile(new URL(page, ROOT), "utf8")).includes(sentence), sentence);
});

/** As the page's viewers make it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

const NAMES = /(?<=<!-- written by .* -->\n)[\s\S]*?(?=<!-- end of the names -->)/;

/** What `src/raw/personal/names.ts` says, for people. */
function namesMarkdown(): string {
  const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  const rows = [
    ...Object.entries(PERSONAL_WORDS).map(([group, names]) => [`${group}: words`, named(names)]),
    [
      `at the end of a name, or before ${named(PERSONAL_ENDINGS.before)} and numbers`,
      named(PERSONAL_ENDINGS.words),
    ],
    ["before `_name`: all but", named(NAMED_THINGS)],
    [
      "people, at the end of a name: a text there is a name, an object (also under `_id`, `_details` and the like) describes a person",
      `${named(PERSONS)}, and \`*_by\` but after ${named(NO_PERSONS_BY)}`,
    ],
    ["personal in such an object, and beside an e-mail address", named(OF_PERSON)],
  ];
  return [
    "",
    "| Where | Names |",
    "|---|---|",
    ...rows.map(([where, names]) => `| ${where} | ${names} |`),
    "",
    "",
  ].join("\n");
}

/** With UPDATE_DOCS=1 it is written into the page instead. */
test("docs/personal-data.md lists the names that are taken for personal, and no others", async () => {
  const file = new URL("docs/personal-data.md", ROOT);
  const page = await readFile(file, "utf8");
  const expected = namesMarkdown();
  if (process.env.UPDATE_DOCS === "1")
    await writeFile(
      file,
      page.replace(NAMES, () => expected),
    );
  else assert.equal(NAMES.exec(page)?.[0], expected, "UPDATE_DOCS=1 npm test -- test/docs.test.ts");
});

test("every line that opens a database on the command line of DuckDB makes it UTC", async () => {
  const pages = ["README.md", ...(await readdir(new URL("docs/", ROOT))).map((name) => `docs/${name}`)];
  for (const page of pages.filter((name) => name.endsWith(".md"))) {
    const text = await readFile(new URL(page, ROOT), "utf8");
    for (const [line] of text.matchAll(/duckdb -readonly.*/g))
      assert.match(line, /^duckdb -readonly -cmd "SET TimeZone = 'UTC'" /, page);
  }
});

test("every link of a page to another leads to a page and a heading that are there", async () => {
  const docs = (await readdir(new URL("docs/", ROOT))).filter((name) => name.endsWith(".md"));
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "data/README.md",
    ...docs.map((name) => `docs/${name}`),
  ];
  for (const page of pages) {
    const text = await readFile(new URL(page, ROOT), "utf8");
    for (const [, link = ""] of text.matchAll(/\]\(((?!https?:)[^)\s]+)\)/g)) {
      const target = new URL(link, new URL(page, ROOT));
      const anchor = target.hash.slice(1);
      target.hash = "";
      const there = await readFile(target, "utf8");
      const anchors = [...there.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
      assert.ok(anchor === "" || anchors.includes(anchor), `${page}: ${link}`);
    }
  }
});

test("what CONTRIBUTING.md says to open is there", async () => {
  const page = await readFile(new URL("CONTRIBUTING.md", ROOT), "utf8");
  const rows = [...page.matchAll(/^\| (?!To change|-)[^|]+ \| ([^|]+) \|$/gm)];
  assert.ok(rows.length > 15);
  for (const [, cell = ""] of rows) {
    let folder = "";
    for (const [, path = ""] of cell.matchAll(/(?<!\[)`([\w/.-]+(?:\/|\.ts))`/g)) {
      const places = [path, `${folder}${path}`].map((each) => new URL(`src/${each}`, ROOT));
      assert.ok(
        places.some((place) => existsSync(place)),
        path,
      );
      if (folder === "") folder = path.replace(/[^/]*$/, "");
    }
  }
});

test("CONTRIBUTING.md says what each dependency is for", async () => {
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(
    await readFile(new URL("package.json", ROOT), "utf8"),
  );
  const page = await readFile(new URL("CONTRIBUTING.md", ROOT), "utf8");
  const [, said = ""] = /^Each is pinned: (.*)$/m.exec(page) ?? [];
  const named = [...said.matchAll(/`([@a-z][\w/@-]*)`/g)].map(([, name = ""]) => name);
  const all = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  assert.deepEqual(
    all.filter((name) => !named.includes(name)),
    [],
  );
});

test("every page and message that names a version of an optional package names the one that the tests have", async () => {
  const { devDependencies, peerDependencies } = JSON.parse(
    await readFile(new URL("package.json", ROOT), "utf8"),
  );
  const filesIn = async (folder: string) =>
    (await readdir(new URL(folder, ROOT), { recursive: true })).map((name) => `${folder}${name}`);
  const files = ["README.md", "Dockerfile", ...(await filesIn("docs/")), ...(await filesIn("src/"))];
  const named = new Set<string>();
  for (const file of files.filter((name) => /Dockerfile$|\.(?:md|m?ts)$/.test(name)))
    for (const [text, name = "", version] of (await readFile(new URL(file, ROOT), "utf8")).matchAll(
      /(@?[a-z][\w/-]*)@(\d+\.\d+\.\d+)/g,
    )) {
      if (!(name in peerDependencies)) continue;
      assert.equal(version, devDependencies[name], `${file}: ${text}`);
      named.add(name);
    }
  assert.deepEqual([...named].toSorted(), Object.keys(peerDependencies).toSorted());
});
