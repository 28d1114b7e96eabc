/** A Model Context Protocol server on standard input and output: for assistants that ask the warehouse questions. */
import { importPeers } from "../common/import-module.ts";
import { VERSION } from "../common/version.ts";
import { type Questions, registerTools } from "./tools.ts";

/** An optional peer: only who serves assistants needs it. A test holds that package.json says the same version. */
export const MCP_SDK = "@modelcontextprotocol/sdk@1.32.2";

const INSTRUCTIONS =
  "A warehouse with the content of a content-management service, as its last run published it. Call list_tables and " +
  "describe_table before query. An item's custom field values are mapped to external values per destination: " +
  "explain_item, audit_mappings and diff_runs answer questions about those.";

/** Serves until the client goes away. Throws `config.invalid` where the SDK is not installed. */
export async function serveMcp(questions: Questions): Promise<void> {
  const { McpServer, StdioServerTransport } = await importSdk();
  const server = new McpServer(
    { name: "content-warehouse", version: VERSION },
    { instructions: INSTRUCTIONS },
  );
  registerTools(server, questions);
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    server.server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport());
  await closed;
}

function importSdk() {
  return importPeers("The MCP server", [MCP_SDK], async () => {
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    return { McpServer, StdioServerTransport };
  });
}
