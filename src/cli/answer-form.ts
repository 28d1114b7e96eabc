/** How a command draws its answer: what its options say of it. */
import type { Writable } from "node:stream";
import type { Answer } from "../common/answer.ts";
import { WarehouseError } from "../common/errors.ts";
import { type AnswerForm, show } from "../show/answer.ts";

/** Of {@link CliCommand.answerForm}. */
export interface AnswerFlags extends Omit<AnswerForm, "width"> {
  /** The part that is asked for; undefined: all, and as CSV the first. */
  readonly section?: string | undefined;
}

/** As an option spells a section's key: `new-fields`. */
export function sectionName(key: string): string {
  return key.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Throws `config.invalid` with `why`, a clause, where the answer does not have the part that is asked for. */
export function assertHasSection(
  { sections }: Answer,
  { section }: Pick<AnswerFlags, "section">,
  why: string,
): void {
  if (section === undefined || sections.some(({ key }) => sectionName(key) === section)) return;
  throw new WarehouseError("config.invalid", `The section ${section} ${why}.`);
}

/** Writes it as {@link show} does. A part that this answer does not have is as one without rows. */
export function showAnswer(out: Writable, answer: Answer, { section, ...form }: AnswerFlags): Promise<void> {
  const sections = answer.sections.filter(({ key }) => section === undefined || sectionName(key) === section);
  return show(out, { ...answer, sections }, form);
}
