import { displayWidth } from "./terminal.ts";

/**
 * A paragraph whose further lines begin under its first word: `lead` stands before the first line, and as many spaces
 * before the others. Without a width it is one line.
 */
export function paragraph(lead: string, text: string, width: number | undefined): string {
  const indent = " ".repeat(displayWidth(lead));
  const room = Math.max(20, (width ?? Number.POSITIVE_INFINITY) - indent.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= room || line === "") {
      line = longer;
    } else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].map((each, index) => `${index === 0 ? lead : indent}${each}\n`).join("");
}
