import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { asWarehouseError } from "../common/errors.ts";

export type { McpServer };

/** Of all tools: the warehouse is only read, and asking again gives the same until the next run is published. */
export const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** The answer as text; a failure is an error of the tool, with the sentence that the command line would print. */
export async function textResult(answer: () => Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await answer() }] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    return { content: [{ type: "text", text: message }], isError: true };
  }
}
