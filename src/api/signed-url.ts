/** Removes signatures from URLs, because each response signs them anew. */

/** Characters of a URL in text, HTML or JSON. */
const REST = String.raw`[^\x00-\x20"<>\\]*`;

/** Start of a parameter, in HTML too. */
const START = String.raw`(?:\?|&(?:amp;)?)`;

/** A signed URL has at least one of these parameters. */
const SIGNATURE = `${START}(?:x-(?:amz|goog|oss|cos)-signature|signature|sig|hmac|token)=`;

/** Signature parameters of object stores and content networks. Another URL may follow a comma. */
const PARAMETER = String.raw`${START}(?:x-(?:amz|goog|oss|cos)-[a-z0-9-]{1,64}|signature|sig|policy|key-pair-id|expires|token|hmac|awsaccesskeyid|googleaccessid|s[ekprtv]|sk(?:oid|tid|[estv]))=[^&#"'<>),;\x00-\x20\\]*`;

/** Case-insensitive patterns for DuckDB, whose engine takes linear time. */
export const SIGNED_URL_PATTERNS = {
  url: `https?://${REST}${SIGNATURE}${REST}`,
  parameter: PARAMETER,
} as const;

const IS_SIGNED = new RegExp(SIGNATURE, "i");
const URLS = new RegExp(`https?://${REST}`, "gi");
const PARAMETERS = new RegExp(PARAMETER, "gi");

/** The text with all URLs unsigned. */
export function withoutSignature(text: string): string {
  // Most texts have no URL, and some are long.
  if (!IS_SIGNED.test(text)) return text;
  return text.replace(URLS, (url) => (IS_SIGNED.test(url) ? url.replace(PARAMETERS, "") : url));
}
