import type { Members } from "../../../src/audit/mapping/mapped-value.ts";

/** The payload as the JSON text that a destination would receive: `{"Topic":["Sales","Service"]}`. */
export function payloadJson(payload: Members): string {
  const members = [...payload].map(([name, values]) => `${JSON.stringify(name)}:${JSON.stringify(values)}`);
  return `{${members.join(",")}}`;
}
