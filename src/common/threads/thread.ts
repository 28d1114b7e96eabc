/** The inside of a thread of a pool: takes tasks, answers each by its number. */
import { parentPort } from "node:worker_threads";
import { type SentError, sendError } from "./sent-error.ts";

export interface Task {
  readonly number: number;
  readonly task: unknown;
}

export type Reply =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: SentError };

/** Answers each task with what `perform` gives or throws. `answered` is called after the answer: nobody waits for it. */
export function answerTasks<Task>(perform: (task: Task) => unknown, answered: (task: Task) => void): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this module is the entry of a worker thread");
  port.on("message", ({ number, task }: { number: number; task: Task }) => {
    let reply: Reply;
    try {
      reply = { number, result: perform(task) };
    } catch (thrown) {
      reply = { number, failure: sendError(thrown) };
    }
    port.postMessage(reply);
    answered(task);
  });
}
