/** Names and texts in statements for PostgreSQL. */

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A backslash means itself: `standard_conforming_strings` is on unless somebody set it otherwise, and a connection sets it. */
export function literal(text: string): string {
  return `'${text.replaceAll("\0", "\uFFFD").replaceAll("'", "''")}'`;
}
