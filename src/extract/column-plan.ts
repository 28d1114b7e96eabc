/** Which columns and single items a run requests: no more than its tables are made from. */
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import type { Pipeline } from "../pipeline.ts";
import type { SingleItemScope } from "./pages/tasks.ts";

/** What the configuration says. */
export interface ColumnSettings {
  /** Columns of the dynamic set, by their names at the service. */
  readonly columns: readonly string[];
  /** Overrides the pipeline; `undefined`: not set. */
  readonly details: SingleItemScope | undefined;
  /** Name at the service to the specification's name. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface ColumnPlan extends Pick<ColumnSettings, "columns"> {
  /** Columns that only single-item requests give. */
  readonly itemColumns: readonly string[];
  readonly details: SingleItemScope;
}

/** Plans the columns and single items that a pipeline's tables are made from, as far as the configuration has them. */
export function planColumns(pipeline: Pipeline, config: ColumnSettings): ColumnPlan {
  const { aliases } = config;
  const nameOf = (atService: string) => aliases[atService] ?? atService;
  const needed = neededColumns(pipeline);
  const columns = config.columns.filter((column) => needed?.has(nameOf(column)) ?? true);
  const { singleItems } = pipeline;
  const only = singleItems === "events" ? "eventOnly" : "singleItemOnly";
  const hasColumn = (flag: "eventOnly" | "singleItemOnly") => (column: string) => {
    const name = nameOf(column);
    return isDynamicColumn(name) && DYNAMIC_COLUMNS[name][flag];
  };
  const isNeeded = singleItems !== "none" && columns.some(hasColumn(only));
  const details = config.details ?? (isNeeded ? singleItems : "none");
  const itemColumns = columns.filter(hasColumn("singleItemOnly"));
  // Events are known by their body type, so it is requested even if no table needs it.
  const bodyType = Object.keys(aliases).find((name) => aliases[name] === "body_type") ?? "body_type";
  const isMissing = details === "events" && !columns.includes(bodyType);
  return { columns: isMissing ? [...columns, bodyType] : columns, itemColumns, details };
}

/** Columns by the specification's names; `undefined`: a table may be made from any. */
function neededColumns({ tables, rows }: Pipeline): ReadonlySet<string> | undefined {
  if (Object.keys(rows).length > 0) return undefined;
  const needed = new Set<string>();
  for (const { stage, columns, rows: from } of tables) {
    // A query reads tables; its columns come from those.
    if (stage === "query") continue;
    const at = from.kind === "list" || from.kind === "object" ? from.at : [];
    for (const { resource, path } of [...at, ...columns.flatMap(({ origins }) => origins)]) {
      const [name = ""] = path.split(/[.[]/, 1);
      if (resource === "dynamic") needed.add(name);
    }
  }
  return needed;
}
