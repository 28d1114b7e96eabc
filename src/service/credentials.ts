import { HttpError } from "./http-error.ts";
import type { ContentSet } from "./loaded-set.ts";
import { type Actor, unknownActor } from "./permissions.ts";

/** Who asks: the token that was presented and the user that it belongs to. */
export interface Caller {
  readonly token: string;
  readonly actor: Actor;
}

/** Basic credentials: the token is the user name, the password means nothing. Throws 401. */
export function identify(authorization: string | undefined, set: ContentSet): Caller {
  const token = tokenOf(authorization);
  const userId = token === undefined ? undefined : set.tokens.get(token);
  if (token === undefined || userId === undefined) {
    throw new HttpError(401, refusal(authorization), {
      "www-authenticate": 'Basic realm="Content API", charset="UTF-8"',
    });
  }
  return { token, actor: set.users.get(userId)?.user ?? unknownActor(userId) };
}

function tokenOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic +([a-z0-9+/_-]+=*) *$/i.exec(authorization ?? "") ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("utf8").split(":", 1)[0];
}

function refusal(authorization: string | undefined): string {
  return authorization === undefined
    ? "Credentials are missing: send an API token as the user name of HTTP Basic credentials."
    : "The credentials were not accepted: the user name must be a valid API token.";
}
