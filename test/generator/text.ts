/** Letters that are not a letter and an accent. */
const UNACCENTED: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l" };

/** ASCII words joined by hyphens: "Théo Marchand" becomes "theo-marchand". Text without such letters gives "". */
export function slugOf(text: string): string {
  return text
    .replace(/[ßæœøł]/gi, (letter) => UNACCENTED[letter.toLowerCase()] ?? letter)
    .normalize("NFKD")
    .replace(/[\u0300-\u036f’']/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `{name}` becomes the slot's words; a slot without words is a mistake in the vocabulary. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const words = slots[name];
    if (words === undefined) throw new RangeError(`The text "${template}" has the unknown slot {${name}}.`);
    return words;
  });
}

/** What a browser would show, in words. */
export function wordCount(html: string): number {
  return html
    .replace(/<[^>]*>/g, " ")
    .split(/\s+/)
    .filter((word) => word !== "").length;
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Whether every slot of the template has words. */
export function isFilled(template: string, slots: Readonly<Record<string, string>>): boolean {
  return [...template.matchAll(/\{(\w+)\}/g)].every(([, name = ""]) => slots[name] !== undefined);
}

/** What `body_fragment` shows of a body: no scripts, styles, frames, event handlers or script addresses. */
export function sanitize(html: string): string {
  return html
    .replace(/<(script|style|iframe)\b[^>]*>[\s\S]*?<\/\1>/gi, "")
    .replace(/<(script|style|iframe)\b[^>]*\/?>/gi, "")
    .replace(/\son\w+=("[^"]*"|'[^']*'|[^\s>]+)/gi, "")
    .replace(/\s(href|src)=(["'])\s*javascript:[^"']*\2/gi, "");
}
