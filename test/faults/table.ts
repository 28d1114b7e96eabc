/** Prints which test holds each fault, or why none does: `npm run faults`. */
import { FAULTS } from "./rows.ts";
import { testsByRow } from "./titles.ts";

const tests = testsByRow(new URL("../", import.meta.url).pathname);
const rows = Object.entries(FAULTS);
const lines = rows.map(([id, [fault, expected, untested]]) => {
  const files = tests.get(id) ?? [];
  const held = files.length > 0 ? files.map((file) => `test/${file}`).join(", ") : (untested ?? "UNTESTED");
  return `${id.padEnd(4)} ${fault} -> ${expected}\n     ${held}\n`;
});
const tested = rows.filter(([id]) => tests.has(id)).length;
const explained = rows.filter(([id, [, , untested]]) => !tests.has(id) && untested !== undefined).length;
const open = rows.length - tested - explained;
process.stdout.write(
  `${lines.join("")}\n${rows.length} faults: ${tested} tested, ${explained} not tested with a reason, ${open} without either.\n`,
);
