/** Warns if the setting `personalData` is not that of the run before. */
import { joinFirst } from "../../common/nearest.ts";
import { PERSONAL_POLICIES, type PersonalPolicy } from "../../raw/personal/policy.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";

/** One sentence, or none, after old runs were removed. It names the runs that are left and have more than `policy` lets through. */
export async function changedPolicyWarnings(
  { folder, baseline }: { readonly folder: OutputFolder; readonly baseline: Baseline },
  policy: PersonalPolicy,
): Promise<string[]> {
  const before = baseline.kind === "run" ? baseline.manifest.asked.personalData.policy : policy;
  if (before === policy) return [];
  const changed = `\`personalData\` is "${policy}" since this run, and was "${before}" in the run before.`;
  const rank = PERSONAL_POLICIES.indexOf(policy);
  // The run is published, whether or not the others can be listed.
  const numbers = (await listRuns(folder).catch(() => [])).flatMap(({ sequence, manifest }) => {
    const { personalData } = "asked" in manifest ? manifest.asked : {};
    return personalData && PERSONAL_POLICIES.indexOf(personalData.policy) > rank ? [`run ${sequence}`] : [];
  });
  if (numbers.length === 0) return [changed];
  const remove =
    '"content-warehouse runs prune --keep 1" removes all but the current run, "content-warehouse lake vacuum --all-versions" the same of a lake';
  return [`${changed} What it leaves out is still in ${joinFirst(numbers, 10)}: ${remove}.`];
}
