import { compareUtf8 } from "../../common/utf8-order.ts";
import type { MappedValue } from "./mapped-value.ts";

/** A row of `content_external_payloads`; keys in ascending order of their bytes, never without a key. */
export interface Payload {
  readonly contentId: string;
  readonly destinationId: string;
  readonly members: ReadonlyMap<string, readonly string[]>;
  readonly destinationUnsupported: boolean | null;
}

/**
 * Rule 7: the external field name as key, always a list. `rows` are those of one item at one destination, in ledger
 * order: values come in ascending order of custom field ID, then in source order. An entry without an external value,
 * or a mapping without a name, sends nothing. `passthrough`: a field without value mappings sends its values as they
 * are.
 */
export function payloadMembers(rows: readonly MappedValue[], passthrough: boolean): Map<string, string[]> {
  const members = new Map<string, string[]>();
  for (const row of rows) {
    const name = row.externalFieldName;
    const sent = sentValue(row, passthrough);
    if (name === null || sent === null) continue;
    const values = members.get(name);
    if (values === undefined) members.set(name, [sent]);
    else values.push(sent);
  }
  return new Map([...members].sort(([a], [b]) => compareUtf8(a, b)));
}

function sentValue(row: MappedValue, passthrough: boolean): string | null {
  if (row.status === "mapped") return row.externalValue;
  return row.status === "no_value_mapping" && passthrough ? row.value : null;
}

/** The payload as the JSON text that a destination would receive: `{"Topic":["Sales","Service"]}`. */
export function payloadJson(payload: Payload): string {
  const members = [...payload.members].map(
    ([name, values]) => `${JSON.stringify(name)}:${JSON.stringify(values)}`,
  );
  return `{${members.join(",")}}`;
}
