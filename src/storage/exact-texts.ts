/**
 * Makes the database's client hand out texts as they are stored. Its own decoder takes a U+FEFF at the beginning of a text
 * for a mark of the encoding and leaves it out: two keys could become one. All texts of the client's vectors go through
 * the decoder that is replaced here: those in lists, structures, maps and variants too.
 */
import accessors from "@duckdb/node-api/lib/vectors/dataAccessors.js";

Object.assign(accessors, { textDecoder: new TextDecoder("utf-8", { ignoreBOM: true }) });
