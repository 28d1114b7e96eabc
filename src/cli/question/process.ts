/**
 * A process for one question, which it is sent as a message. The one that started it ends it, and where that one is gone,
 * it ends itself. Its answer goes to standard output, and then how it ended goes back as a message.
 */
import { writeFile } from "node:fs/promises";
import { inspect } from "node:util";
import { asWarehouseError } from "../../common/errors.ts";
import { answerSql } from "../sql/answer.ts";
import { keepHeapsSmall } from "../v8-flags.ts";
import type { Task, TaskEnd } from "./work.ts";

// A terminal sends Ctrl-C to both.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
// Told late where the answer waits for a reader: this process writes to pipes and terminals without doing anything else.
process.once("disconnect", endAtOnce);
if (!process.connected) endAtOnce();

process.once("message", async (task: Task) => {
  const end = await endOf(task);
  process.send?.(end, () => process.exit());
});

/** No statement that is under way keeps it. */
function endAtOnce(): void {
  process.kill(process.pid, "SIGKILL");
}

async function endOf(task: Task): Promise<TaskEnd> {
  try {
    await answer(task);
    return { failed: false };
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    return { failed: true, code, message, details: inspect(thrown) };
  }
}

async function answer({ work, temporaryDirectory }: Task): Promise<void> {
  await beFirstToGo();
  // Folders that a question makes for itself lie in there, and so are removed however this process ends.
  process.env.TMPDIR = temporaryDirectory;
  keepHeapsSmall();
  if ("question" in work) {
    const { answerQuestion } = await import("./questions.ts");
    return answerQuestion(work);
  }
  return answerSql(work, { out: process.stdout, temporaryDirectory });
}

/** Where the machine's memory runs out, the system ends this process before any other. */
async function beFirstToGo(): Promise<void> {
  await writeFile("/proc/self/oom_score_adj", "1000").catch(() => {
    // A system without that file, or that does not let it be written, chooses by itself.
  });
}
