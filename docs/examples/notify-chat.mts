/**
 * A configuration that posts one line to a chat when a run has ended, for chats that take `{"text": "..."}` at the
 * address of a webhook: Slack, Mattermost, Rocket.Chat, Google Chat.
 *
 *     $ CHAT_URL=https://chat.example.com/hooks/... content-warehouse run nightly --config ./notify-chat.mts
 *
 * A chat that cannot be reached is a warning, and changes nothing about the run.
 */
import { defineConfig, type RunOutcome } from "content-warehouse";

function textOf(outcome: RunOutcome): string {
  if (!outcome.ok) return `🔴 Nothing is published (exit code ${outcome.exitCode}): ${outcome.message}`;
  const { run, pipeline, verdict, items, reasons, warnings } = outcome;
  const mark = verdict === "complete" ? "🟢" : "🟡";
  return [
    `${mark} ${pipeline} is ${verdict}: run ${run}, ${items.loaded} of ${items.listed} items`,
    ...reasons,
    ...warnings,
  ].join("\n");
}

export default defineConfig({
  onFinish: async (outcome, signal) => {
    const response = await fetch(process.env.CHAT_URL ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: textOf(outcome) }),
      signal,
    });
    if (!response.ok) throw new Error(`the chat answered with ${response.status}`);
  },
});
