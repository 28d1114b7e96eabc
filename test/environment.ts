/** Sets variables of this process, which test files share; gives what sets them back, for `t.after`. */
export function environment(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  set(Object.entries(variables));
  return () => set(before);
}

function set(variables: Iterable<readonly [name: string, value: string | undefined]>): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
