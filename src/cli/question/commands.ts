/** The commands that answer an assistant's questions. */
import type { CommandQuestion } from "../../mcp/tools.ts";
import type { CliCommand } from "../command.ts";
import { auditCommand } from "../commands/audit.ts";
import { diffCommand } from "../commands/diff.ts";
import { explainCommand } from "../commands/explain.ts";

export const COMMANDS: Readonly<Record<CommandQuestion["command"], () => CliCommand>> = {
  audit: auditCommand,
  diff: diffCommand,
  explain: explainCommand,
};
