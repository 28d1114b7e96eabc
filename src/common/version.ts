/** Version of the package; a test holds that package.json says the same. */
export const VERSION = "0.1.0";
