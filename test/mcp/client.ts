/** A client of the SDK, with the server as the process that it starts. */
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { z } from "zod";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

export async function connect(args: readonly string[], env = {}): Promise<Client> {
  return (await connectWithProcess(args, env)).client;
}

/** `stderr` ends when the server and all that it started have ended. */
export async function connectWithProcess(args: readonly string[], env = {}) {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [packagePath("src/cli/main.ts"), "mcp", ...args],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...COMPILE_CACHE, ...env },
    stderr: "pipe",
  });
  await client.connect(transport);
  const { pid, stderr } = transport;
  if (pid === null || !(stderr instanceof Readable)) throw new TypeError("the server runs, with a pipe");
  stderr.pipe(process.stderr, { end: false });
  return { client, pid, stderr };
}

const result = z.object({
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })).length(1),
  isError: z.boolean().optional(),
});

/** Longer than the machine takes under any load: the limits are the server's. */
const TIMEOUT_MS = 300_000;

export async function call(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<{ text: string; isError: boolean }> {
  const options = { timeout: TIMEOUT_MS, ...(signal && { signal }) };
  const answer = await client.callTool({ name, arguments: args }, undefined, options);
  const { content, isError = false } = result.parse(answer);
  return { text: content[0]?.text ?? "", isError };
}
