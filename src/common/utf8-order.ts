/**
 * Compares well-formed texts by their UTF-8 bytes, as DuckDB does: negative, zero or positive. JavaScript's `<` compares
 * UTF-16 units, which puts U+1F600 before U+FFEE.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Puts surrogates, which encode characters above U+FFFF, after U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
