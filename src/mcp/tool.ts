import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { asWarehouseError } from "../common/errors.ts";

export type { McpServer };

/** Of all tools: the warehouse is only read, and asking again gives the same until the next run is published. */
export const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** What the command line calls otherwise than the tools do. */
const NAMES: readonly (readonly [atCommandLine: RegExp, here: string])[] = [
  [/ with "sql"/g, " with `query`"],
  [/"--as-of (\d+)"/g, "`as_of` $1"],
  [/, with --as-of\b/g, ", with `as_of`"],
  [/; "runs list" shows them| "runs list" shows those that exist\./g, ""],
];

/** The answer as text; a failure is an error of the tool, with the command line's sentence in the words of the tools. */
export async function textResult(answer: () => Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await answer() }] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    return { content: [{ type: "text", text: inWordsOfTools(message) }], isError: true };
  }
}

function inWordsOfTools(sentence: string): string {
  return NAMES.reduce((text, [atCommandLine, here]) => text.replace(atCommandLine, here), sentence);
}
