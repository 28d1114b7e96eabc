/** What a scheduler does after an exit code: ours does, and the documentation says it to others. */

/** `done`: published. `retry`: again later, a few times. `stop`: not again; somebody has to look first. */
export type AfterExit = "done" | "retry" | "stop";

const AFTER: ReadonlyMap<number, AfterExit> = new Map([
  [0, "done"],
  [10, "done"],
  [21, "retry"],
  [26, "retry"],
  [75, "retry"],
  [130, "retry"],
  [143, "retry"],
]);

/** An exit code that nobody knows is no reason to try again. */
export function afterExit(code: number): AfterExit {
  return AFTER.get(code) ?? "stop";
}
