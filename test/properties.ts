/**
 * fast-check, as all tests have it. Each run looks at other cases, but for `.ci/run`: what passed there once passes again,
 * and a failure is one of the change.
 */
import fc from "fast-check";

const { PROPERTY_SEED: seed } = process.env;
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });

export default fc;
