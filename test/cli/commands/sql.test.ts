import assert from "node:assert/strict";
import { once } from "node:events";
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { after, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { sqlCommand } from "../../../src/cli/commands/sql.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { exactPattern, quoteLiteral } from "../../../src/storage/sql-text.ts";
import { HOSTILE_NAME, temporaryFolder } from "../../load/fixtures.ts";
import { few, long } from "../../long.ts";
import { until } from "../../until.ts";
import { publish } from "../../warehouse/published.ts";
import { capture } from "../capture.ts";
import { program, start } from "../running.ts";

/** Published once for all tests: asking changes nothing. */
const base = await mkdtemp(join(tmpdir(), "warehouse-"));
after(() => removeTree(base));
const out = join(base, HOSTILE_NAME);
await publish(out);

const ask = (query: string, ...args: string[]) =>
  capture(sqlCommand, [query, "--warehouse", out, ...args], undefined, { err: new PassThrough().resume() });

const EVERY_TYPE = `SELECT
  170141183460469231731687303715884105727::HUGEINT AS huge,
  9007199254740993 AS big,
  -1.50::DECIMAL(9, 2) AS exact,
  0.1::DOUBLE AS double,
  'NaN'::DOUBLE AS nan,
  true AS yes,
  NULL AS nothing,
  TIMESTAMPTZ '2026-03-01 09:30:12.1234+02:00' AS instant,
  TIMESTAMP '1969-12-31 23:59:59.5' AS local,
  '-infinity'::TIMESTAMPTZ AS never,
  DATE '2026-03-01' AS day,
  'infinity'::DATE AS later,
  TIME '10:00:00' AS clock,
  INTERVAL 1 DAY AS span,
  '{"a": 12345678901234567890}'::JSON AS json,
  [1, NULL] AS list,
  {'a': [DATE '2026-03-01'], 'b': 'x'} AS struct,
  MAP {'k': 1} AS map,
  '\\xAA'::BLOB AS blob,
  '00000000-0000-0000-0000-000000000001'::UUID AS uuid`;

test("a table has lines, numbers on the right, NULL as NULL, and its size below", async () => {
  assert.equal(
    await ask(
      "SELECT content_id, row_number() OVER () * 10 AS n, NULL AS nothing FROM content ORDER BY content_id",
    ),
    `┌────────────┬────┬─────────┐
│ content_id │  n │ nothing │
├────────────┼────┼─────────┤
│ item-0000  │ 10 │    NULL │
│ item-0001  │ 20 │    NULL │
│ item-0002  │ 30 │    NULL │
└────────────┴────┴─────────┘
3 rows, 3 columns
`,
  );
  assert.match(await ask("SELECT 1 AS a WHERE false"), /│ a │\n├───┤\n└───┘\n0 rows, 1 column\n$/);
});

test("on a screen what does not fit is drawn as records, or columns are left out of more rows; elsewhere nothing is", async () => {
  const wide = `SELECT content_id, repeat('ab ', 100) AS text FROM content LIMIT 1`;
  const many = `SELECT ${Array.from({ length: 30 }, (_, index) => `'cell ${index}' AS column_${index}`).join(", ")}`;
  const narrow = (query: string) => capture(sqlCommand, [query, "--warehouse", out], 60);
  for (const line of (await narrow(wide)).split("\n")) assert.ok(line.length <= 60, line);
  assert.match(
    await narrow(many),
    /^ {2}column_0 +cell 0\n[\s\S]* {2}column_29 +cell 29\n1 row, 30 columns\n$/,
  );
  const rows = await narrow(`${many} FROM range(21)`);
  assert.match(
    rows.replaceAll("\n", " "),
    /^┌.* left out: column_5, .* and 17 more; `--format csv` has all columns 21 rows, 30 columns $/,
  );
  assert.ok((await ask(wide)).includes("ab ".repeat(99)));
  assert.ok((await ask(many)).includes("cell 29"));
});

test("S19: a table cannot steer the terminal, and each row stays one line", async () => {
  const text = await ask(
    `SELECT chr(27) || ']0;title' || chr(7) || 'a' || chr(10) || 'b' || chr(8238) || chr(155) || 'c' AS "x${"\u202e"}"`,
  );
  assert.equal(text.split("\n").length, 7);
  assert.ok(text.includes("│ ]0;titlea↵bc │"), text);
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}]/u);
});

test("json is an array of objects with exact numbers, ISO instants, and JSON as it is", async () => {
  const text = await ask(EVERY_TYPE, "--format", "json");
  assert.ok(
    text.includes('"huge":170141183460469231731687303715884105727,"big":9007199254740993,"exact":-1.50,'),
  );
  assert.ok(text.includes('"json":{"a": 12345678901234567890},'), "digit by digit");
  const [row, ...others] = JSON.parse(text);
  assert.deepEqual(others, []);
  const { huge, big, exact, json: _, ...rest } = row;
  for (const number of [huge, big, exact]) assert.equal(typeof number, "number");
  assert.deepEqual(rest, {
    double: 0.1,
    nan: "NaN",
    yes: true,
    nothing: null,
    instant: "2026-03-01T07:30:12.1234Z",
    local: "1969-12-31T23:59:59.5",
    never: "-infinity",
    day: "2026-03-01",
    later: "infinity",
    clock: "10:00:00",
    span: "1 day",
    list: [1, null],
    struct: { a: ["2026-03-01"], b: "x" },
    map: [{ key: "k", value: 1 }],
    blob: "\\xAA",
    uuid: "00000000-0000-0000-0000-000000000001",
  });
});

test("JSON is JSON wherever it stands, on one line, and text where no JSON reader takes it", async () => {
  const query = `SELECT '{"a":' || chr(10) || ' "' || chr(155) || '"}' AS text, CAST(text AS JSON) AS json,
    ['[1]'::JSON, NULL] AS list, {'x': 'null'::JSON, 'y': '{}'} AS struct, MAP {'k': '2'::JSON} AS map,
    '{"a":1,}'::JSON AS odd, NULL::JSON AS nothing`;
  const [row] = JSON.parse(await ask(query, "--format", "json"));
  assert.deepEqual(row, {
    text: '{"a":\n "\u009b"}',
    json: { a: "\u009b" },
    list: [[1], null],
    struct: { x: null, y: "{}" },
    map: [{ key: "k", value: 2 }],
    odd: '{"a":1,}',
    nothing: null,
  });
  const line = await ask(query, "--format", "jsonl");
  assert.match(line, /^[^\n\u009b]+\n$/);
  assert.deepEqual(JSON.parse(line), row);
});

const TEXTS: Readonly<Record<string, readonly [query: string, format: string, text: string]>> = {
  "json keeps columns of equal names and a column named __proto__": [
    `SELECT 1 AS a, 2 AS a, 3 AS "__proto__" UNION ALL SELECT 4, 5, 6 ORDER BY 1`,
    "json",
    '[\n{"a":1,"a:1":2,"__proto__":3},\n{"a":4,"a:1":5,"__proto__":6}\n]\n',
  ],
  "json of no rows is an empty list": ["SELECT 1 WHERE false", "json", "[]\n"],
  "csv has LF, quotes where RFC 4180 wants them, an empty cell for NULL and quotes for the empty text": [
    `SELECT 'a,b' AS "x,y", 'say "hi"' AS b, 'two' || chr(10) || 'lines' AS c, NULL AS d, '' AS e, -1 AS f, 1.5 AS g, [1, 2] AS h`,
    "csv",
    '"x,y",b,c,d,e,f,g,h\n"a,b","say ""hi""","two\nlines",,"",-1,1.5,"[1,2]"\n',
  ],
  "csv has no blank line": ["SELECT NULL AS a UNION ALL SELECT 'x'", "csv", 'a\n""\nx\n'],
  "markdown has numbers on the right, its markup escaped and each row on one line": [
    "SELECT 1 AS n, 'a|b' || chr(10) || '*c*' AS \"x_y\", NULL AS z",
    "markdown",
    "| n | x\\_y | z |\n| ---: | --- | ---: |\n| 1 | a\\|b↵\\*c\\* | NULL |\n",
  ],
};

for (const [what, [query, format, text]] of Object.entries(TEXTS))
  test(what, async () => assert.equal(await ask(query, "--format", format), text));

test("C17, S17: csv is faithful; with --spreadsheet no cell and no name is a formula", async () => {
  const starts = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];
  const columns = starts.flatMap((start, at) => [`'${start}1+1' AS a${at}`, `'x${start}' AS b${at}`]);
  const heads = starts.flatMap((_, at) => [`a${at}`, `b${at}`]).join();
  const quoted = (text: string) => (/[\t\r\n]/.test(text) ? `"${text}"` : text);
  const cells = (mark: string) => starts.flatMap((start) => [`${mark}${start}1+1`, `x${start}`].map(quoted));
  const query = `SELECT ${columns.join(", ")}`;
  assert.equal(await ask(query, "--format", "csv"), `${heads}\n${cells("").join()}\n`);
  assert.equal(await ask(query, "--spreadsheet"), `\uFEFF${heads}\n${cells("'").join()}\n`);
  assert.equal(await ask("SELECT chr(0) || '=1' AS a", "--spreadsheet"), "\uFEFFa\n'[U+0000]=1\n");
  assert.equal(await ask(`SELECT 1 AS "=HYPERLINK(1)"`, "--spreadsheet"), "\uFEFF'=HYPERLINK(1)\n1\n");
  assert.equal(await ask("SELECT -1 AS a, -0.5::DOUBLE AS b", "--spreadsheet"), "\uFEFFa,b\n-1,-0.5\n");
});

test("--out takes the format from the name of the file, and keeps what was there where the query fails", async (t) => {
  const folder = await temporaryFolder(t);
  const written = async (name: string, query: string, ...args: string[]) => {
    const text = await ask(query, "--out", join(folder, name), ...args);
    assert.equal(text, "");
    return readFile(join(folder, name), "utf8");
  };
  assert.equal(await written("a.csv", "SELECT 1 AS a"), "a\n1\n");
  assert.equal(await written("a.jsonl", "SELECT 1 AS a"), '{"a":1}\n');
  assert.equal(await written("a.txt", "SELECT 1 AS a", "--format", "json"), '[\n{"a":1}\n]\n');
  await assert.rejects(ask("SELECT 1", "--out", join(folder, "a.foo")), {
    code: "config.invalid",
    message: /a\.foo does not say which format to write; add --format, /,
  });
  const late = "SELECT CASE WHEN i = 4000 THEN error('late') ELSE i END FROM range(5000) r(i)";
  await assert.rejects(ask(late, "--out", join(folder, "a.csv")), { code: "config.sql" });
  assert.equal(await readFile(join(folder, "a.csv"), "utf8"), "a\n1\n");
  await assert.rejects(ask(late, "--out", join(folder, "new.csv")), { code: "config.sql" });
  assert.deepEqual((await readdir(folder)).toSorted(), ["a.csv", "a.jsonl", "a.txt"]);
});

test("parquet is a file with the types of the columns, whatever ends or is in the statement", async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, "answer.parquet");
  const instance = await DuckDBInstance.create(":memory:");
  t.after(() => instance.closeSync());
  const connection = await instance.connect();
  const rows = async () =>
    (await connection.runAndReadAll(`FROM ${quoteLiteral(exactPattern(file))}`)).getRowsJson();
  for (const [query, expected] of [
    ["SELECT 9007199254740993 AS a, DATE '2026-03-01' AS b", [["9007199254740993", "2026-03-01"]]],
    ["SELECT 'a; --' AS a ; -- b; c\n;", [["a; --"]]],
    ["SELECT i FROM range(3) r(i) ORDER BY i DESC -- last;", [["2"], ["1"], ["0"]]],
    ["SHOW TABLES", [["content"], ["content_tags"]]],
  ] as const) {
    assert.equal(await ask(query, "--out", file), "");
    assert.deepEqual(await rows(), expected, query);
  }
  await assert.rejects(ask("SELECT 1", "--format", "parquet"), {
    code: "config.invalid",
    message: "Parquet is written to a file; name it with --out FILE.",
  });
  const injected = `SELECT 1) TO ${quoteLiteral(join(folder, "escaped.csv"))} (FORMAT csv); --`;
  await assert.rejects(ask(injected, "--out", file), { code: "config.sql" });
  await assert.rejects(
    ask(`FROM read_text(${quoteLiteral(file)})`, "--out", file),
    /disabled by configuration/,
  );
  assert.deepEqual(await readdir(folder), ["answer.parquet"]);
});

test("a statement comes from a file or from standard input where no argument has it", async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, "question.sql");
  await writeFile(file, "\uFEFFSELECT 1 AS a;\n");
  const ask = (args: readonly string[], ...pieces: string[]) =>
    capture(sqlCommand, [...args, "--warehouse", out, "--format", "csv"], undefined, {
      input: Readable.from(pieces),
    });
  assert.equal(await ask(["-f", file], "SELECT 2"), "a\n1\n");
  assert.equal(await ask([], "SELECT 2", " AS a"), "a\n2\n");
  assert.equal(await ask(["-f", "-"], "SELECT 3 AS a"), "a\n3\n");
  await assert.rejects(ask([]), { code: "config.sql", message: /^The query has no SQL statement\./ });
  const terminal = { input: Object.assign(Readable.from([]), { isTTY: true }) };
  await assert.rejects(capture(sqlCommand, ["--warehouse", out], 80, terminal), { code: "config.invalid" });
  await assert.rejects(ask(["-f", join(folder, "none.sql")]), {
    code: "config.not_found",
    message: /ENOENT/,
  });
  await assert.rejects(ask(["SELECT 1", "-f", file]), { code: "config.invalid" });
});

test("S19: csv on a screen leaves control characters out; --spreadsheet shows their code points", async () => {
  const query = `SELECT chr(27) || '[2J' || chr(155) || chr(8238) || 'x' || chr(9) || chr(10) || chr(13) AS "a${"\u202e"}"`;
  assert.equal(await ask(query, "--format", "csv"), 'a\u202e\n"\u001b[2J\u009b\u202ex\t\n\r"\n');
  assert.equal(
    await capture(sqlCommand, [query, "--warehouse", out, "--format", "csv"], 80),
    'a\n"[2Jx\t\n"\n',
  );
  assert.equal(await ask(query, "--spreadsheet"), '\uFEFFa[U+202E]\n"[U+001B][2J[U+009B][U+202E]x\t\n\r"\n');
});

test("a screen gets the first 100 rows and says how many there are, a pipe gets all of them whole", async () => {
  const query = `SELECT i AS number, CASE WHEN i < 50 THEN 'short' ELSE repeat('long ', 30) END AS text FROM range(4010) r(i)
    UNION ALL SELECT 12345678901234, 'end'`;
  const lines = (await capture(sqlCommand, [query, "--warehouse", out], 40)).split("\n");
  assert.equal(lines.length, 3 + 100 + 4);
  assert.match(lines[3] ?? "", /^│ +0 │ short +│$/);
  for (const line of lines) assert.ok(line.length <= 50, line);
  assert.deepEqual(lines.slice(-3), [
    "100 of 4,011 rows, 2 columns",
    "pipe the output or add --out for all rows",
    "",
  ]);
  assert.match(
    await capture(sqlCommand, ["FROM range(100)", "--warehouse", out], 80),
    /└─+┘\n100 rows, 1 column\n$/,
  );
  const piped = (await capture(sqlCommand, [query, "--warehouse", out])).split("\n");
  assert.equal(piped.length, 4011 + 6);
  assert.equal(piped.at(-2), "4,011 rows, 2 columns");
  assert.equal(piped[3 + 4009], `│   4009 │ ${"long ".repeat(30)} │`);
  assert.match(piped[3 + 4010] ?? "", /^│ 12345678901234 │ end +│$/);
});

test("PIVOT finds its columns in the rows, also within a query and for Parquet", async (t) => {
  const rows = "(SELECT content_id AS id, unnest(['b', 'a']) AS kind, unnest([1, 2]) AS n FROM content)";
  const pivot = `PIVOT ${rows} ON kind USING sum(n), string_agg(id, '; ' ORDER BY id) AS ids`;
  const ids = '"item-0000; item-0001; item-0002"';
  const csv = `a_sum(n),a_ids,b_sum(n),b_ids\n6,${ids},3,${ids}\n`;
  for (const query of [pivot, `/* kinds; */ ${pivot}; -- all`, `WITH p AS (${pivot}) FROM p`])
    assert.equal(await ask(query, "--format", "csv"), csv, query);
  const file = join(await temporaryFolder(t), "pivot.parquet");
  await ask(`${pivot};`, "--out", file);
  const found = await DuckDBInstance.create(":memory:").then((instance) => instance.connect());
  const reader = await found.runAndReadAll(`SELECT "a_sum(n)"::INTEGER AS a FROM ${quoteLiteral(file)}`);
  assert.deepEqual(reader.getRowObjects(), [{ a: 6 }]);
});

const QUESTION = /^The query was refused: Only reading is allowed: begin with SELECT,/;

const refused: Record<string, [query: string, message: RegExp]> = {
  "a syntax error": ["SELEC 1", /^The query was refused: Parser Error: syntax error at or near "SELEC"\.$/],
  "an unknown column": [
    "SELECT nope FROM content",
    /column "nope" not found in FROM clause; Candidate bindings: "content_id"/,
  ],
  "no statement": [" ; /* nothing */ -- at all", /^The query has no SQL statement\./],
  "two statements": ["SELECT 1; SELECT 2", /^There are 2 SQL statements in the query/],
  "two statements, of which the first makes a type": [
    "CREATE TYPE x AS ENUM ('a'); SELECT 1",
    /^There are 2 SQL statements in the query/,
  ],
  "an explained PIVOT without values": [
    "EXPLAIN PIVOT content ON title USING count(*)",
    /add IN \(\.\.\.\) to it/,
  ],
  "a statement hidden from the count": ["SELECT $$'$$; SELECT '1'", /add IN/],
  "a table of its own": ["CREATE TABLE x (a INTEGER)", QUESTION],
  "a file that is written": ["COPY (SELECT 1) TO '/tmp/x.csv'", /disabled by configuration/],
  "a table that is made while it is explained": ["EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1", QUESTION],
  "what is explained after a comment": ["EXPLAIN ANALYZE /* /* */ SELECT 1 -- */ VACUUM", QUESTION],
  "what is explained behind a comment": ["EXPLAIN /* x */ ANALYZE VACUUM", /VACUUM/],
  "a file that is read": ["SELECT * FROM read_text('/etc/passwd')", /disabled by configuration/],
  "a database that is exported": ["EXPORT DATABASE 'exported'", /disabled by configuration/],
  "a database that is attached": ["ATTACH 'other.duckdb'", QUESTION],
  "an extension": ["/* why */ INSTALL httpfs", QUESTION],
  "a row, with a query first": [
    "WITH a AS (SELECT 1 AS content_id) INSERT INTO content BY NAME FROM a",
    QUESTION,
  ],
  "a setting": ["SET threads = 3", QUESTION],
  "a pragma for a log of queries": ["PRAGMA log_query_path = 'queries.log'", QUESTION],
  "an error midway": [
    "SELECT CASE WHEN i = 4000 THEN error('late') ELSE i END FROM range(5000) r(i)",
    /late/,
  ],
};

/** Names in the folders where a statement could write by a relative path. */
const around = async (): Promise<string[]> => [
  ...(await readdir(".")),
  ...(await readdir(out, { recursive: true })),
];

test("S13: what is no question is one clear sentence and a wrong configuration, and writes nothing", async () => {
  const before = await around();
  for (const [what, [query, message]] of Object.entries(refused)) {
    const isSentence = ({ exitCode, message: said }: Error & { exitCode?: number }) =>
      exitCode === 2 && message.test(said) && !said.includes("\n");
    await assert.rejects(ask(query), isSentence, what);
  }
  assert.deepEqual(await around(), before);
});

test("S13: no statement writes into the database's own files, explained or not", async () => {
  const file = join(await realpath(join(out, "current")), "warehouse.duckdb");
  const before = await readFile(file);
  const copyTo = (target: string) => `COPY (SELECT 1 AS a) TO '${target}' (FORMAT csv, USE_TMP_FILE false)`;
  const begins = ["EXPLAIN ANALYZE ", "explain analyze\n/* x */ ", "EXPLAIN (FORMAT json, ANALYZE) "];
  for (const copy of [
    ...[file, `${file}.wal`, `${file}.wal.checkpoint`].map(copyTo),
    ...begins.map((begin) => begin + copyTo(file)),
  ])
    await assert.rejects(ask(copy), { code: "config.sql" }, copy);
  assert.deepEqual(await readFile(file), before);
  assert.deepEqual(
    (await readdir(dirname(file))).filter((name) => name.includes("wal")),
    [],
  );
});

test("a plan is drawn as it comes, and steers no terminal", async () => {
  assert.match(await ask("EXPLAIN SELECT * FROM content"), /^┌─+┐\n│ +SEQ_SCAN/);
  assert.match(await ask("EXPLAIN ANALYZE SELECT 1"), /DUMMY_SCAN/);
  const escapes = await ask("EXPLAIN SELECT chr(27) || '\u001b[31mred' AS x FROM content");
  assert.doesNotMatch(escapes, /\p{Cc}(?<!\n)/u);
});

long("rows that no one text could hold together are written one after another", async () => {
  const query = "SELECT repeat('x', 300000) AS t FROM range(2048)";
  let bytes = 0;
  const onStdout = (piece: string) => {
    bytes += piece.length;
  };
  const asked = ["sql", query, "--warehouse", out, "--format", "csv"];
  const { code, stderr } = await program(asked, { onStdout });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.ok(bytes > 2048 * 300_000);
});

test("without a published run the way to one is said", async (t) => {
  const out = await temporaryFolder(t);
  const ask = () => capture(sqlCommand, ["SELECT 1", "--warehouse", out]);
  await assert.rejects(ask(), { code: "answer.nothing", message: /run nightly --sample/ });
  await symlink("runs/000001-20261120T020000Z", join(out, "current"));
  await assert.rejects(ask(), { code: "answer.nothing", message: /run nightly --sample/ });
  await mkdir(join(out, "runs/000001-20261120T020000Z"), { recursive: true });
  await writeFile(join(out, "runs/000001-20261120T020000Z/warehouse.duckdb"), "junk");
  await assert.rejects(ask(), { code: "verify.failed" });
});

long(
  "what the memory cannot hold is spilled, and a question that cannot be is told what it may take",
  async () => {
    const sorted = "SELECT i, repeat(md5(i::VARCHAR), 4) AS text FROM range(3500000) r(i) ORDER BY text";
    assert.equal(
      await ask(
        `SELECT count(*) AS n FROM (${sorted} LIMIT 3400000)`,
        "--format",
        "csv",
        "--max-memory=1024",
      ),
      "n\n3400000\n",
    );
    await assert.rejects(ask("SELECT list(repeat(md5(i::VARCHAR), 40)) FROM range(1000000) r(i)"), {
      code: "config.sql",
      message:
        /the database needs more memory than it has for it and cannot spill .*; --max-memory sets the limit\.$/,
    });
  },
);

/** It asks for no memory, and so nothing but its time ends it. */
const ENDLESS = "SELECT sum(hash(i)) FROM range(100000000000) t(i)";
/** One long vector, in which the database heeds no interrupt. */
const DEAF = "SELECT len(list_transform(range(100000000), x -> x::VARCHAR))";

const MEMORY =
  /^The query took \d+ MB of memory, more than its limit of 300 MB, and was stopped; ask for less, or raise --max-memory\.\n$/;
const TIME = /^The query took longer than 1\.0 s and was stopped; ask for less, or raise --max-seconds\.\n$/;

for (const [what, args, { code, signal }, said] of [
  ["time is interrupted", [ENDLESS, "--max-seconds=1"], { code: 2, signal: null }, TIME],
  [
    "memory kills itself if the database goes on",
    [DEAF, "--max-memory=300"],
    { code: null, signal: "SIGKILL" },
    MEMORY,
  ],
] as const) {
  test(`a question that takes more than its ${what}, and leaves nothing`, async (t) => {
    const folder = await temporaryFolder(t);
    const TMPDIR = await temporaryFolder(t);
    const asked = ["sql", ...args, "--out", join(folder, "answer.csv"), "--warehouse", out];
    const ended = await start(asked, { env: { TMPDIR } }).ended;
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [code, signal, ""], ended.stderr);
    assert.match(ended.stderr, said);
    assert.deepEqual([await readdir(folder), await readdir(TMPDIR)], [[], []]);
  });
}

test("a signal ends a question and leaves no folder, and what a killed one left is removed by the next", async (t) => {
  const TMPDIR = await temporaryFolder(t);
  const startIn = (query: string) => start(["sql", query, "--warehouse", out], { env: { TMPDIR } });
  const SAID = {
    SIGINT: /^Interrupted; the question was not answered\.\n$/,
    SIGTERM: /^Terminated; the question was not answered\.\n$/,
    SIGKILL: /^$/,
  };
  const endless = "SELECT count(*) FROM range(10000000000) a(i), range(100) b(j) WHERE hash(i, j) = 1";
  const cases = [
    [endless, "SIGINT", [130, null]],
    [ENDLESS, "SIGINT", [130, null]],
    [ENDLESS, "SIGTERM", [143, null]],
    [endless, "SIGKILL", [null, "SIGKILL"]],
  ] as const;
  for (const [query, signal, ended] of few(cases, 2)) {
    const asked = startIn(query);
    await until("it has a folder", async () => (await readdir(TMPDIR)).length > 0, asked);
    asked.child.kill(signal);
    const was = await asked.ended;
    assert.deepEqual([was.code, was.signal], ended);
    assert.match(was.stderr, SAID[signal]);
    assert.equal((await readdir(TMPDIR)).length, signal === "SIGKILL" ? 1 : 0, signal);
  }
  const foreign = [
    "content-warehouse-sql-1-another.host-Ab12Cd",
    `content-warehouse-sql-${process.pid}-${hostname()}-Ab12Cd`,
  ];
  for (const name of foreign) await mkdir(join(TMPDIR, name));
  if (process.getuid?.() === 0) {
    const nobodys = "content-warehouse-sql-999999-host-Ab12Cd".replace("host", hostname());
    await mkdir(join(TMPDIR, nobodys));
    await chown(join(TMPDIR, nobodys), 65_534, 65_534);
    foreign.push(nobodys);
  }
  assert.equal((await startIn("SELECT 1").ended).code, 0);
  assert.deepEqual((await readdir(TMPDIR)).toSorted(), foreign.toSorted());
});

test("a reader that goes away ends the command quietly", async () => {
  const query = "SELECT i, repeat('x', 100) AS t FROM range(300000) r(i)";
  for (const format of few(["csv", "jsonl", "markdown", "table"], 1)) {
    const { child, ended } = start(["sql", query, "--warehouse", out, "--format", format]);
    assert.ok(child.stdout);
    await once(child.stdout, "data");
    child.stdout.destroy();
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, ""], format);
  }
});
