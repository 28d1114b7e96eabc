/** Warns if the setting `personalData` is not that of the run before. */
import { joinFirst } from "../../common/nearest.ts";
import { PERSONAL_POLICIES, type PersonalPolicy } from "../../raw/personal/policy.ts";
import type { PublishedRun } from "../../warehouse/retention.ts";

const PUBLISHED: Readonly<Record<PersonalPolicy, string>> = {
  drop: "without personal values",
  hash: "with hashes in place of personal values",
  keep: "with personal values",
};

const MAX_RUNS = 10;

/** One sentence, or none. `kept`: the runs of the warehouse, newest first; those that have more than this run are named. */
export function changedPolicyWarnings(
  before: PersonalPolicy,
  policy: PersonalPolicy,
  kept: readonly PublishedRun[],
): string[] {
  if (before === policy) return [];
  const rank = PERSONAL_POLICIES.indexOf(policy);
  const others = kept.filter(
    ({ manifest }) =>
      "asked" in manifest && PERSONAL_POLICIES.indexOf(manifest.asked.personalData.policy) > rank,
  );
  const numbers = others.map(({ sequence }) => String(sequence)).toReversed();
  const [runs, have] = numbers.length === 1 ? ["Run", "has"] : ["Runs", "have"];
  const remove =
    '"content-warehouse runs prune --keep 1" removes all but the current run, "content-warehouse lake vacuum --all-versions" the same of a lake';
  const more =
    numbers.length === 0
      ? ""
      : ` ${runs} ${joinFirst(numbers, MAX_RUNS)} still ${have} what this run leaves out: ${remove}.`;
  return [
    `\`personalData\` changed from "${before}" to "${policy}": this run is published ${PUBLISHED[policy]}.${more}`,
  ];
}
