/**
 * What keeps a text from being the address of a PostgreSQL database that a file may hold; null: nothing. No message shows
 * the text, which may have a password in it.
 */
export function postgresAddressFault(text: string): "form" | "password" | null {
  // The host may be left out behind a user, as `pg` has it.
  const url = URL.parse(text.replace("@/", "@localhost/"));
  if (url === null || !/^postgres(ql)?:\/\//.test(url.href)) return "form";
  if (url.password !== "" || url.searchParams.has("password")) return "password";
  // A password that begins with digits and a slash reads as a port and a path.
  return (url.pathname + url.hash).includes("@") ? "form" : null;
}
