/** Decimal texts of numbers, as JSON spells them. */

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A number's digits without zeros at either end, and where its point is: the same for each spelling of the number. */
export function digitsOf(decimal: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(decimal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/**
 * Whether the text, which gives this double, is one that the double gives back: its shortest text, or that with 17
 * digits, which `%.17g` and others print (`0.10000000000000001` for 0.1).
 */
export function isPrintOf(double: number, text: string): boolean {
  const digits = digitsOf(text);
  return digits === digitsOf(String(double)) || digits === digitsOf(double.toPrecision(17));
}
