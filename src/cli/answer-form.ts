/** Shows an answer as the flags of a command say. */
import type { Writable } from "node:stream";
import type { Answer } from "../common/answer.ts";
import { invalidConfig } from "../common/errors.ts";
import { type AnswerForm, writeAnswer } from "../show/answer.ts";

/** Flags that {@link CliCommand.answerForm} declares. */
export interface AnswerFlags extends Omit<AnswerForm, "width"> {
  /** Key of the only section to show; `undefined` shows all, and as CSV the first. */
  readonly section?: string | undefined;
}

/** Spells the key of a section as an option does: `new-fields`. */
export function sectionName(key: string): string {
  return key.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Throws `config.invalid` if the answer lacks the section of the flags; `why` completes the sentence. */
export function assertHasSection(
  { sections }: Answer,
  { section }: Pick<AnswerFlags, "section">,
  why: string,
): void {
  if (section === undefined || sections.some(({ key }) => sectionName(key) === section)) return;
  throw invalidConfig(`The section ${section} ${why}.`);
}

/** Writes an answer. A section that it lacks is shown like one without rows. */
export function showAnswer(out: Writable, answer: Answer, { section, ...form }: AnswerFlags): Promise<void> {
  const sections = answer.sections.filter(({ key }) => section === undefined || sectionName(key) === section);
  return writeAnswer(out, { ...answer, sections }, form);
}
