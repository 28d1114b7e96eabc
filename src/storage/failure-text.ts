import { asWarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";

/** What the engine says of a query that failed, in a clause; without the cells that it repeats, which may be personal. */
export function failureText(thrown: unknown): string {
  const { cause, message } = asWarehouseError(thrown);
  const [said = ""] = (cause instanceof Error ? cause.message : message).split("\n", 1);
  return printable(said.replace(/'[^']*'/g, "'…'"), 250).replace(/[.!]$/, "");
}
