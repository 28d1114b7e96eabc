/**
 * What does not compile, and what does: nothing here is run, `tsc -p test` reads it. An expectation that is not needed
 * is itself an error.
 */
import {
  bigint,
  boolean,
  type Column,
  contentTables,
  customTable,
  date,
  definePipeline,
  destinations,
  double,
  duckdb,
  integer,
  json,
  type Loader,
  listing,
  mappedValues,
  parquet,
  type RowOf,
  singleItems,
  sqlTable,
  text,
  timestamp,
} from "content-warehouse";

const TITLE = text("title", { from: ["full:title"], comment: "Title.", required: true });
const LENGTH = integer("length", { comment: "Characters." });
const TABLE = { name: "titles", comment: "Titles." } as const;

// What is right: a generator, a function that gives a list, several kinds of rows, none.
customTable({
  ...TABLE,
  columns: [TITLE, LENGTH],
  *rows({ contentId, dynamic, full }) {
    if (full?.title) yield { title: full.title };
    if (dynamic?.title) yield { title: dynamic.title, length: dynamic.title.length };
    yield { title: contentId, length: null };
  },
});
customTable({ ...TABLE, columns: [TITLE, LENGTH], rows: () => [{ title: "x" }, { title: "y", length: 1 }] });
customTable({ ...TABLE, columns: [TITLE], key: ["title"], rows: () => [] });
customTable({
  ...TABLE,
  columns: [
    text("t", { comment: "x" }),
    json("j", { comment: "x" }),
    boolean("b", { comment: "x" }),
    integer("i", { comment: "x" }),
    bigint("l", { comment: "x" }),
    double("d", { comment: "x" }),
    timestamp("at", { comment: "x" }),
    date("on", { comment: "x" }),
  ],
  rows: () => [{ t: "", j: "{}", b: true, i: 1, l: 1n, d: 1.5, at: 0, on: 0 }, { l: 1 }, {}],
});
const dynamicColumns: readonly Column[] = [TITLE];
customTable({ ...TABLE, columns: dynamicColumns, rows: () => [{ title: "x" }] });
sqlTable({ ...TABLE, key: ["title"], columns: [TITLE, LENGTH], reads: ["content"], sql: "SELECT 1" });
export const row: RowOf<[typeof TITLE, typeof LENGTH]> = { title: "x" };
definePipeline({
  name: "right",
  extract: [listing("full"), destinations({ names: [{ name: "x", platform: "External" }] })],
  transform: [contentTables({ only: ["content", "content_tags"] })],
  load: [
    duckdb(),
    parquet(),
    { name: "lake", stage: async () => ({ commit: async () => {}, abort: async () => {} }) },
  ],
});

// Origins: fields of the contract at any depth, and any key below a record of the instance's own.
text("a", {
  from: [
    "basic:content_type.id",
    "full:custom_fields[].options.html",
    "dynamic:attachments[].image_attributes.alt",
  ],
  comment: "x",
});
text("b", {
  from: ["destination:platform", "custom_field_definition:mappings[].values[].value"],
  comment: "x",
});
bigint("c", { from: ["envelope:pagination.count"], comment: "x" });
json("d", { from: ["dynamic:custom_field_values.some-id", "dynamic:status"], comment: "x" });
export const nullable: Column<"e", "boolean", true> = boolean("e", {
  from: ["dynamic:published", "dynamic:wordcount"],
  comment: "x",
});
// @ts-expect-error: it is called title
text("a", { from: ["full:titel"], comment: "x" });
// @ts-expect-error: it is no field of the basic listing
text("a", { from: ["basic:tags"], comment: "x" });
// @ts-expect-error: a list has no such field
text("a", { from: ["full:attachments.url"], comment: "x" });
// @ts-expect-error: below a text there is nothing
text("a", { from: ["full:title.length"], comment: "x" });
// @ts-expect-error: there is no such resource
text("a", { from: ["single:title"], comment: "x" });
// @ts-expect-error: origins are a list
text("a", { from: "full:title", comment: "x" });
// @ts-expect-error: a column has a comment
text("a", { from: ["full:title"] });
// @ts-expect-error: it is called required
text("a", { comment: "x", requierd: true });

const COLUMNS = [TITLE, LENGTH] as const;
const LENGTH_ONLY = [LENGTH] as const;

// Fields that the documents do not have.
// @ts-expect-error: it is called title
customTable({ ...TABLE, columns: LENGTH_ONLY, rows: ({ full }) => (full?.titel ? [{}] : []) });
// @ts-expect-error: there is no such column
customTable({ ...TABLE, columns: LENGTH_ONLY, rows: ({ dynamic }) => (dynamic?.no_such_column ? [{}] : []) });
customTable({
  ...TABLE,
  columns: LENGTH_ONLY,
  *rows({ full }) {
    // @ts-expect-error: documents cannot be changed
    if (full) full.title = "Other";
    yield {};
  },
});

// Columns that the table does not have, in one of several rows too.
// @ts-expect-error: there is no column titel
customTable({ ...TABLE, columns: COLUMNS, rows: () => [{ title: "x", titel: "x" }] });
// @ts-expect-error: the second row has a column that there is not
customTable({ ...TABLE, columns: COLUMNS, rows: () => [{ title: "x" }, { title: "x", lenght: 1 }] });
customTable({
  ...TABLE,
  columns: COLUMNS,
  // @ts-expect-error: the second kind of rows has a column that there is not
  *rows({ full }) {
    yield { title: "x" };
    if (full) yield { title: "x", lenght: 1 };
  },
});

// Cells of another type, and required ones that are missing or null.
// @ts-expect-error: length takes a number
customTable({ ...TABLE, columns: COLUMNS, rows: () => [{ title: "x", length: "1" }] });
// @ts-expect-error: title is missing from one of the rows
customTable({ ...TABLE, columns: COLUMNS, rows: () => [{ title: "x" }, { length: 1 }] });
// @ts-expect-error: title is required
customTable({ ...TABLE, columns: COLUMNS, rows: () => [{ title: null }] });
// @ts-expect-error: a title may be missing in a document
customTable({ ...TABLE, columns: COLUMNS, rows: ({ full }) => [{ title: full?.title }] });
// @ts-expect-error: instants are microseconds
customTable({ ...TABLE, columns: [timestamp("at", { comment: "x" })], rows: () => [{ at: new Date() }] });
// @ts-expect-error: rows cannot be async
customTable({ ...TABLE, columns: COLUMNS, rows: async () => [{ title: "x" }] });

// Keys, names and options that there are not.
// @ts-expect-error: there is no column titel
customTable({ ...TABLE, columns: [TITLE], key: ["titel"], rows: () => [] });
// @ts-expect-error: there is no column titel
sqlTable({ ...TABLE, key: ["titel"], columns: [TITLE], reads: [], sql: "SELECT 1" });
// @ts-expect-error: a query has a key
sqlTable({ ...TABLE, columns: [TITLE], reads: [], sql: "SELECT 1" });
// @ts-expect-error: it is called sql
sqlTable({ ...TABLE, key: ["title"], columns: [TITLE], reads: [], query: "SELECT 1" });
// @ts-expect-error: there is no table content_tag
contentTables({ only: ["content", "content_tag"] });
// @ts-expect-error: mapped values are a stage of their own
contentTables({ only: ["content_mapped_values"] });
// @ts-expect-error: there is no such listing
listing("basic");
// @ts-expect-error: it is called of
singleItems({ off: "all" });
// @ts-expect-error: of events, or of all
singleItems({ of: "none" });
// @ts-expect-error: passthrough is true or false
mappedValues({ passthrough: "yes" });
// @ts-expect-error: a destination has a platform
destinations({ names: [{ name: "x" }] });
// @ts-expect-error: a column is made by its factory
customTable({ ...TABLE, columns: ["title"], rows: () => [] });
// @ts-expect-error: a list has load
definePipeline({ name: "x", extract: [listing("full")], transform: [contentTables()] });
// @ts-expect-error: it is called extract
definePipeline({ name: "x", extrct: [], extract: [], transform: [], load: [] });
// @ts-expect-error: a stage is no loader
definePipeline({ name: "x", extract: [], transform: [], load: [listing("full")] });
// @ts-expect-error: what was staged can be taken back
export const loader: Loader = { name: "lake", stage: async () => ({ commit: async () => {} }) };
