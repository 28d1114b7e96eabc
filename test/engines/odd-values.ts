/** A table of values that are hard to hand on: those that end a line, a field or a range, of each type. */
import { bigint, boolean, date, double, integer, json, text, timestamp } from "../../src/tables/declare.ts";
import { sqlTable } from "../../src/transform/stages.ts";

/** As SQL: text, JSON, boolean, 32 bits, 64 bits, double, microseconds since 1970, days since 1970. */
const ROWS = [
  "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
  `'', '""', false, 0, 0, 0, 0, 0`,
  "'\\N', 'null', true, -1, -1, -1.5, -1, -1",
  // The last microsecond of the year 9999 and the second of the year 0: more than a number can tell apart.
  `'\\.', '{"b":1,"a":[1,1.0],"b":2}', true, 2147483647, 9223372036854775807, 5e-324, 253402300799999999, 2932896`,
  `E'a\\tb\\nc\\rd\\r\\ne\\\\f\\\\', '"\\u0000\\\\n"', true, -2147483648, (-9223372036854775808), 1.7976931348623157e308, -62167219199999999, -719528`,
  "'NUL' || chr(0) || '.', '1e400', NULL, NULL, 9007199254740993, 0.1, 1795140000123456, 20777",
  `'🧭 e\u0301\u2028\uFEFF' || chr(8) || chr(127), '12345678901234567890', NULL, NULL, NULL, 1e21, 951782399999999, NULL`,
  `'''; DROP SCHEMA content_warehouse; --', '{"a\\tb":"\\r\\n"}', NULL, NULL, NULL, 1e-7, NULL, NULL`,
  // Twice the same text, but for a character that some readers take for a mark of the encoding.
  `'\uFEFFmark', '"\uFEFFmark"', NULL, NULL, NULL, NULL, NULL, NULL`,
  `'mark', '"mark"', NULL, NULL, NULL, NULL, NULL, NULL`,
  "'NULL', NULL, NULL, NULL, NULL, NULL, NULL, NULL",
];

export const ODD_ROWS = ROWS.length;

export const oddValues = sqlTable({
  name: "odd_values",
  comment: `It's a "table" with a \\ and
a second line.`,
  key: ["n"],
  columns: [
    integer("n", { comment: "Number of the row.", required: true }),
    text("t", { comment: `It's a "text" with a \\.` }),
    json("j", { comment: "JSON." }),
    boolean("b", { comment: "Boolean." }),
    integer("i", { comment: "32 bits." }),
    bigint("l", { comment: "64 bits." }),
    double("d", { comment: "Double." }),
    timestamp("at", { comment: "Instant." }),
    date("select", { comment: "Date, in a column that has a word of SQL for a name." }),
  ],
  reads: [],
  sql: `
    SELECT n, t, j, b, i, l, d::DOUBLE AS d, make_timestamp(micros)::VARCHAR || '+00' AS "at",
      DATE '1970-01-01' + days AS "select"
    FROM (VALUES ${ROWS.map((row, n) => `(${n}, ${row})`).join(",\n")}) AS odd(n, t, j, b, i, l, d, micros, days)`,
});
