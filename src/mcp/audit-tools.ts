/** Tools about mapped values: what an item produces, what the mappings cover, what changed. */
import { z } from "zod";
import { CAUSES } from "../tables/history.ts";
import { type Commands, option, wholeAnswer } from "./answer.ts";
import { type McpServer, READS, textResult } from "./tool.ts";

const destination = z.string().optional().describe("only this destination, by name or ID");
const field = z.string().optional().describe("only this custom field, by name or ID");
const run = z.string().optional().describe("name or number of a run (default: the current one)");

/** Changes that an answer lists unless it is asked for more. */
const LINES = 50;

export function registerAuditTools(server: McpServer, commands: Commands): void {
  server.registerTool(
    "explain_item",
    {
      description:
        "Explain an item: what each destination receives, which values are not sent and why. With steps: each rule, " +
        "the mapping entry and the document behind every value, and since when it is so.",
      inputSchema: {
        item: z.string().describe("ID or slug of an item"),
        destination,
        field,
        steps: z.boolean().optional().describe("tell the rules too, one by one"),
        as_of: z
          .string()
          .optional()
          .describe("a run, or an instant such as 2026-11-20T02:00:00Z (default: the current run)"),
      },
      annotations: READS,
    },
    ({ item, destination, field, steps, as_of }) =>
      textResult(() =>
        wholeAnswer(commands, [
          "explain",
          ...option("destination", destination),
          ...option("field", field),
          ...option("as-of", as_of),
          ...(steps === true ? ["--steps"] : []),
          "--",
          item,
        ]),
      ),
  );
  server.registerTool(
    "mapping_coverage",
    {
      description:
        "Say how far the mappings cover the values of a run: per destination and field how many values are mapped, " +
        "unmapped or unknown, which values those are, and which mapping entries no item uses.",
      inputSchema: { run, destination, field },
      annotations: READS,
    },
    ({ run, destination, field }) =>
      textResult(() =>
        wholeAnswer(commands, [
          "audit",
          "--format=json",
          ...option("destination", destination),
          ...option("field", field),
          "--",
          run ?? "current",
        ]),
      ),
  );
  server.registerTool(
    "diff_runs",
    {
      description:
        "Compare two runs: which external values changed, for how many items, and by which cause. A line is one change " +
        "however many items it touches.",
      inputSchema: {
        before: z.string().optional().describe("the earlier run: name or number (default: the previous one)"),
        after: z.string().optional().describe("the later run: name or number (default: the current one)"),
        cause: z.enum(CAUSES).optional().describe("only changes with this cause"),
        destination,
        field,
        max_lines: z.int().min(1).optional().describe(`lines at most (default: ${LINES})`),
      },
      annotations: READS,
    },
    ({ before, after, cause, destination, field, max_lines }) =>
      textResult(() =>
        wholeAnswer(commands, [
          "diff",
          "--format=json",
          ...option("cause", cause),
          ...option("destination", destination),
          ...option("field", field),
          ...option("limit", max_lines ?? LINES),
          "--",
          before ?? "previous",
          after ?? "current",
        ]),
      ),
  );
}
