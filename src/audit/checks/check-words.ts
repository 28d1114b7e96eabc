/** What a check counted, in words of content: a warning is read by people who do not know the tables. */
import { count, counted } from "../../common/figures.ts";
import { firstOf } from "../../common/nearest.ts";
import { type Check, type Judged, type RunCheck, warningCause } from "./checks.ts";
import { TOLD_BY_NAME } from "./unmatched.ts";

/** The name of a check of one. */
export const FOREIGN_KEY = /^foreign key (?<table>[^.]+)\.(?<column>.+) → (?<target>.+)$/;

/** What a row names there; a column that is not here is named as it is. */
const NAMED: Readonly<Record<string, string>> = {
  assignee_id: "an assignee",
  campaign_id: "a campaign",
  content_type_id: "a content type",
  creator_id: "a creator",
  custom_field_id: "a custom field",
  destination_id: "a destination",
  instance_id: "an instance",
  last_updated_by_id: "a last editor",
  localized_from_id: "an original item",
  owner_id: "an owner",
  uploaded_by: "an uploader",
  user_id: "a user",
  "content_current_editors.user_id": "a current editor",
  "content_next_task_owners.user_id": "an owner of the next task",
};

/** What rows are called; those of other tables of content are of items. */
const SUBJECTS: Readonly<Record<string, string>> = { content_types: "content types" };

/** `2 items name an assignee that the service did not describe`; of other checks their name and figure. */
export function checkWords({ check_name, figure }: Pick<RunCheck, "check_name" | "figure">): string {
  const { table, column = "", target } = FOREIGN_KEY.exec(check_name)?.groups ?? {};
  if (table === undefined) return `${check_name} (${count(figure)})`;
  const named = NAMED[`${table}.${column}`] ?? NAMED[column];
  if (named === undefined) return `${counted(figure, "row")} of ${table} without a matching row of ${target}`;
  const what = `${named} that the service did not describe`;
  if (table === "content") return `${counted(figure, "item")} ${figure === 1 ? "names" : "name"} ${what}`;
  const subject = SUBJECTS[table] ?? (table.startsWith("content_") ? "items" : `rows of ${table}`);
  return `${subject} name ${what} (${counted(figure, "time")})`;
}

/** Checks that warn, and that no sentence tells of. */
export function untoldChecks({ checks, warnings }: Judged): readonly Check[] {
  const told = new Set(warnings.map(warningCause));
  return checks.filter(
    ({ name, verdict }) => verdict !== "passed" && !told.has(name) && !TOLD_BY_NAME.has(name),
  );
}

const CHECKS_NAMED = 3;

/** One sentence for the checks that did not warn in the run before; none if there are none. */
export function newChecksText(checks: readonly Check[]): string[] {
  if (checks.length === 0) return [];
  const named = checks.map(({ name, figure }) => `${name}: ${count(figure)}`);
  const warn = `${counted(checks.length, "check")} ${checks.length === 1 ? "warns" : "warn"} since this run`;
  return [`${warn} (${firstOf(named, CHECKS_NAMED)}); "content-warehouse runs show" has each.`];
}
