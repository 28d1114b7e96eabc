/** What passes between the process that was given a question and the one that answers it. */
import type { Writable } from "node:stream";
import { z } from "zod";
import { ERROR_CODES } from "../../common/errors.ts";
import type { RunQuestion } from "../../mcp/tools.ts";
import type { SqlQuestion } from "../sql/answer.ts";

/** A question to a warehouse. */
export type AskedQuestion = RunQuestion & { readonly warehouse: string };

export type Work = SqlQuestion | AskedQuestion;

export interface Task {
  readonly work: Work;
  /** For spilled blocks and whatever else the answer needs; exists. */
  readonly temporaryDirectory: string;
}

/** How a task ended; `details`: the stack of a failure. */
export const taskEnd = z.union([
  z.object({ failed: z.literal(false) }),
  z.object({
    failed: z.literal(true),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    details: z.string(),
  }),
]);
export type TaskEnd = z.output<typeof taskEnd>;

/** What a question may take before it is ended. */
export interface QuestionLimits {
  readonly maxSeconds: number;
  /** Of the whole process, resident. */
  readonly maxMemoryMb: number;
}

export interface AskOptions {
  readonly limits: QuestionLimits;
  /** Takes the answer. */
  readonly out: Writable;
  readonly temporaryDirectory: string;
  /** Ends the question; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** Has a question answered. Throws a WarehouseError for whatever keeps it from that. */
export type Ask = (work: Work, options: AskOptions) => Promise<void>;
