/** Columns of the dynamic set that a run asks for, by their names at the service. */
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/columns.ts";
import type { Config } from "../config/config.ts";

const BODY_TYPE = "body_type";

/** Events are known by their body type, so it is asked for even where the configuration narrows the columns. */
export function columnsOf({ columns, details, aliases }: Config): readonly string[] {
  const atService = Object.keys(aliases).find((name) => aliases[name] === BODY_TYPE) ?? BODY_TYPE;
  return details !== "events" || columns.includes(atService) ? columns : [...columns, atService];
}

/** The configured columns that lists never give. */
export function itemColumnsOf({ columns, aliases }: Config): readonly string[] {
  return columns.filter((atService) => {
    const name = aliases[atService] ?? atService;
    return isDynamicColumn(name) && DYNAMIC_COLUMNS[name].singleItemOnly;
  });
}
