/** Prints which test holds each fault, or why none does: `npm run faults`. */
import { FAULTS } from "./rows.ts";
import { testsByRow } from "./titles.ts";

const tests = testsByRow(new URL("../", import.meta.url).pathname);
const lines = FAULTS.map(({ id, fault, expected, untested }) => {
  const files = tests.get(id) ?? [];
  const held = files.length > 0 ? files.map((file) => `test/${file}`).join(", ") : (untested ?? "UNTESTED");
  return `${id.padEnd(4)} ${fault} -> ${expected}\n     ${held}\n`;
});
const tested = FAULTS.filter(({ id }) => tests.has(id)).length;
const explained = FAULTS.filter(({ id, untested }) => !tests.has(id) && untested !== undefined).length;
const open = FAULTS.length - tested - explained;
process.stdout.write(
  `${lines.join("")}\n${FAULTS.length} faults: ${tested} tested, ${explained} not tested with a reason, ${open} without either.\n`,
);
