/** Questions in SQL that stand in pages, each with the answer that the sample gives. */
export const QUESTIONS = /```sql\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g;

/** The questions of a page. */
export function questionsIn(page: string): string[] {
  return [...page.matchAll(QUESTIONS)].map(([, sql = ""]) => sql);
}
