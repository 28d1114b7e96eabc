import { HISTORY_STEPS, type HistoryStep, PHASES, type Phase, stepsOf } from "../src/load/history-steps.ts";

const TITLES: Readonly<Record<Phase, string>> = {
  run: "once in a run",
  connection: "on each connection",
  range: "for each range of items",
  find_parts: "for each part of a range: what is compared",
  copy: "for each range: rows that are only copied",
  compare_parts: "for each part of a range: comparison",
  end: "for each range, at its end",
};

/** The diagram of the documents: an arrow for each step whose table another one reads. */
export function historyDiagram(): string {
  const phases = PHASES.flatMap((phase) => [
    `  subgraph phase_${phase}["${TITLES[phase]}"]`,
    ...stepsOf(phase).map((step) => `    ${step.name}["${labelOf(step)}"]`),
    "  end",
  ]);
  const arrows = HISTORY_STEPS.flatMap(({ name, reads }) => {
    const from = HISTORY_STEPS.filter(({ makes }) => reads.includes(makes));
    return from.length === 0 ? [] : [`  ${from.map((step) => step.name).join(" & ")} --> ${name}`];
  });
  return ["```mermaid", "flowchart TD", ...phases, ...arrows, "```"].join("\n");
}

/** The step, what it makes if that has another name, and what it reads that no step makes. */
function labelOf({ name, makes, reads }: HistoryStep): string {
  const given = reads.filter((table) => !HISTORY_STEPS.some((step) => step.makes === table));
  const [before, now] = [true, false].map((isBefore) =>
    given.some((table) => table.startsWith("previous_") === isBefore),
  );
  const of = [...(now ? ["this run"] : []), ...(before ? ["the run before"] : [])];
  return [
    name,
    ...(makes === name ? [] : [`makes ${makes}`]),
    ...(of.length === 0 ? [] : [`reads ${of.join(", ")}`]),
  ].join("<br>");
}
