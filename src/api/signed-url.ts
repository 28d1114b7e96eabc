/** URLs that are signed anew for each answer: who may read the file, and until when, is no part of what it is. */

const SIGNED = /^https?:\/\/[^?]+\?/i;

/** Without one of these a URL is not signed, whatever its other parameters are called. */
const SIGNATURE = /^(?:x-(?:amz|goog|oss|cos)-signature|signature|sig|hmac|token)$/i;

/** Parameters of the signatures of object stores and content networks. */
const PARAMETER =
  /^(?:x-(?:amz|goog|oss|cos)-.+|signature|sig|policy|key-pair-id|expires|token|hmac|awsaccesskeyid|googleaccessid|s[ekprtv]|sk(?:oid|tid|[estv]))$/i;

/** The same for an engine that works on many texts at once. Patterns take capitals and small letters alike. */
export const SIGNED_URL_PATTERNS = {
  url: SIGNED.source,
  /** Of the name of a parameter. */
  signature: SIGNATURE.source.slice(1, -1),
  parameter: PARAMETER.source.slice(1, -1),
} as const;

/** A URL without the parameters that sign it; another text as it is. */
export function withoutSignature(text: string): string {
  if (!SIGNED.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const names = [...url.searchParams.keys()];
  if (!names.some((name) => SIGNATURE.test(name))) return text;
  for (const name of names.filter((each) => PARAMETER.test(each))) url.searchParams.delete(name);
  return url.href;
}
