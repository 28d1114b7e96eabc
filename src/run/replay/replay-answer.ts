/** What `replay` says of the runs that it replaced. */
import { type Answer, col, section } from "../../common/answer.ts";
import { counted } from "../../common/figures.ts";
import { VERSION } from "../../common/version.ts";
import type { ReplayedRun } from "./renewing.ts";

const RUNS = {
  run: col.name({ required: true }),
  replaced_by: col.name({ head: "replaced by", required: true }),
  current: col.flag({ required: true, hidden: true }),
  tables: col.count({ required: true }),
} as const;

const WARNINGS = { run: col.name({ required: true }), warning: col.text({ required: true }) } as const;

/** `targets`: names of those that are configured. */
export function replayedAnswer(replayed: readonly ReplayedRun[], targets: readonly string[]): Answer {
  const current = replayed.find((each) => each.current)?.replacedBy ?? null;
  const now = current === null ? "" : `; current is now ${current}`;
  return {
    lead: `${counted(replayed.length, "run")} built again by version ${VERSION}, in place of the old${now}.`,
    facts: { current },
    sections: [
      section({
        key: "replaced",
        title: "Runs",
        none: "",
        columns: RUNS,
        rows: replayed.map(({ run, replacedBy, current: isCurrent, tables }) => {
          return { run, replaced_by: replacedBy, current: isCurrent, tables };
        }),
      }),
      section({
        key: "warnings",
        title: "Warnings",
        none: "",
        columns: WARNINGS,
        rows: replayed.flatMap(({ replacedBy: run, warnings }) =>
          warnings.map((warning) => ({ run, warning })),
        ),
      }),
    ],
    next: [nextStep(current, targets)],
  };
}

function nextStep(current: string | null, targets: readonly string[]): string {
  if (current === null)
    return "Readers see the run that they saw: the current one is not among those replaced.";
  if (targets.length === 0)
    return 'A target that has the old runs keeps them until "content-warehouse deliver" gives it the current one.';
  return `${targets.join(", ")} still ${targets.length === 1 ? "has" : "have"} the old run: "content-warehouse deliver" gives the current one.`;
}
