/** A module of the package as it is installed: compiled, so that no time and memory goes into stripping types. */
export async function built<Module>(path: string): Promise<Module> {
  return import(new URL(`../../dist/src/${path}.js`, import.meta.url).href);
}
