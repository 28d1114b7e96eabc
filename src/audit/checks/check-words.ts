/** What a check counted, in words of content: a warning is read by people who do not know the tables. */
import { count, counted } from "../../common/figures.ts";
import type { RunCheck } from "./checks.ts";

const FOREIGN_KEY = /^foreign key (?<table>[^.]+)\.(?<column>.+) → (?<target>.+)$/;

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
