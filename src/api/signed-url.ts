/** URLs that are signed anew for each answer: who may read the file, and until when, is no part of what it is. */

/** All but what ends a URL in a text, in HTML or in JSON. */
const REST = String.raw`[^\x00-\x20"<>\\]*`;

/** What a parameter begins with, in HTML too. */
const START = String.raw`(?:\?|&(?:amp;)?)`;

/** Without one of these a URL is not signed, whatever its other parameters are called. */
const SIGNATURE = `${START}(?:x-(?:amz|goog|oss|cos)-signature|signature|sig|hmac|token)=`;

const NAMES =
  "x-(?:amz|goog|oss|cos)-[a-z0-9-]{1,64}|signature|sig|policy|key-pair-id|expires|token|hmac|awsaccesskeyid|googleaccessid|s[ekprtv]|sk(?:oid|tid|[estv])";

/** Parameters of the signatures of object stores and content networks; what follows a comma may be another URL. */
const PARAMETER = String.raw`${START}(?:${NAMES})=[^&#"'<>),;\x00-\x20\\]*`;

/**
 * For an engine that works on many texts at once, and in a time that is linear in their length. Patterns take capitals
 * and small letters alike.
 */
export const SIGNED_URL_PATTERNS = {
  url: `https?://${REST}${SIGNATURE}${REST}`,
  parameter: PARAMETER,
} as const;

const IS_SIGNED = new RegExp(SIGNATURE, "i");
const URLS = new RegExp(`https?://${REST}`, "gi");
const PARAMETERS = new RegExp(PARAMETER, "gi");

/** A text without the parameters that sign the URLs in it, be it one or have some. */
export function withoutSignature(text: string): string {
  // Most texts have none, and some are long.
  if (!IS_SIGNED.test(text)) return text;
  return text.replace(URLS, (url) => (IS_SIGNED.test(url) ? url.replace(PARAMETERS, "") : url));
}
