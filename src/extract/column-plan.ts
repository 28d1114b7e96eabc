/** What a run asks for: no more than its tables are made from. */
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import type { Pipeline } from "../pipeline.ts";
import type { SingleItemScope } from "./pages/tasks.ts";

/** What a person settled about it. */
export interface ColumnSettings {
  /** Columns of the dynamic set, by their names at the service. */
  readonly columns: readonly string[];
  /** Goes before what the pipeline says; undefined: nothing was settled. */
  readonly details: SingleItemScope | undefined;
  /** Name at the service to the specification's name. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface ColumnPlan extends Pick<ColumnSettings, "columns"> {
  /** Those of the columns that lists never give. */
  readonly itemColumns: readonly string[];
  readonly details: SingleItemScope;
}

const BODY_TYPE = "body_type";

/** Columns and single items that the tables of a pipeline are made from, as far as the configuration has them. */
export function planColumns(pipeline: Pipeline, config: ColumnSettings): ColumnPlan {
  const { aliases } = config;
  const nameOf = (atService: string) => aliases[atService] ?? atService;
  const needed = neededColumns(pipeline);
  const columns = config.columns.filter((column) => needed?.has(nameOf(column)) ?? true);
  const given = columns.map(nameOf).filter(isDynamicColumn);
  const { singleItems } = pipeline;
  const only = singleItems === "events" ? "eventOnly" : "singleItemOnly";
  const isNeeded = singleItems !== "none" && given.some((column) => DYNAMIC_COLUMNS[column][only]);
  const details = config.details ?? (isNeeded ? singleItems : "none");
  // Events are known by their body type, so it is asked for even where nothing else needs it.
  const bodyType = Object.keys(aliases).find((name) => aliases[name] === BODY_TYPE) ?? BODY_TYPE;
  const isMissing = details === "events" && !columns.includes(bodyType);
  const itemColumns = columns.filter((column) => {
    const name = nameOf(column);
    return isDynamicColumn(name) && DYNAMIC_COLUMNS[name].singleItemOnly;
  });
  return { columns: isMissing ? [...columns, bodyType] : columns, itemColumns, details };
}

/** By the specification's names; undefined: a table may be made from any. */
function neededColumns({ tables, rows }: Pipeline): ReadonlySet<string> | undefined {
  if (Object.keys(rows).length > 0) return undefined;
  const needed = new Set<string>();
  for (const { stage, columns, rows: from } of tables) {
    // It reads tables, and its origins say only what those columns come from.
    if (stage === "query") continue;
    const at = from.kind === "list" || from.kind === "object" ? from.at : [];
    for (const { resource, path } of [...at, ...columns.flatMap(({ origins }) => origins)]) {
      const [name = ""] = path.split(/[.[]/, 1);
      if (resource === "dynamic") needed.add(name);
    }
  }
  return needed;
}
