import type { Session } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import { readConfig } from "../../config/config.ts";
import { isPersonalClaim } from "../../config/parsers.ts";
import { tokenChecks, TokenRefusal } from "../../identity/auth/refusal.ts";
import { rolesIn } from "../../identity/auth/role-claim.ts";
import { claimsOf } from "../../identity/auth/token.ts";
import { tokenPrefixes } from "../../identity/sessions/stored-tokens.ts";
import { painter, table } from "../kit/output.ts";
import { readToken } from "../kit/secret-input.ts";
import { serverVerifier } from "../kit/signing-key.ts";

/**
 * `skyhook token explain`: prints which check a token fails, and which setting would accept it. Never prints the token.
 * Verifies as the server does; after each failure again, with the setting that passes it, so all failures are found.
 */
export async function explain(given: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const token = await readToken(given);
  if (Object.values(tokenPrefixes).some((prefix) => token.startsWith(prefix))) {
    throw new Error(
      `It is an API key or an agent's token, which no setting affects. To see those that are valid: ${programName} sessions`,
    );
  }
  const { refusals, session } = await judge(token, env);
  const paint = painter(env);
  const failed = new Map(refusals.map((refusal) => [refusal.check, refusal]));
  const last = refusals.at(-1)?.check;
  const isWhole = session !== null;
  const rows = tokenChecks.map((check, index) => {
    const refusal = failed.get(check);
    if (refusal !== undefined) return [paint("red", "✗"), check, refusal.message, advice(refusal)];
    const isChecked = isWhole || (last !== undefined && index < tokenChecks.indexOf(last));
    return [
      isChecked ? paint("green", "✓") : paint("dim", "–"),
      check,
      isChecked ? "" : "not checked",
    ];
  });
  console.log(table(rows));
  if (session !== null) console.log(rolesLine(session, token));
  const isAccepted = refusals.length === 0;
  console.log(
    isAccepted
      ? "The server accepts this token, unless it was revoked."
      : "The server refuses this token.",
  );
  if (!isAccepted) process.exitCode = 1;
}

interface Judgement {
  readonly refusals: readonly TokenRefusal[];
  /** The session once all remedies are applied; null if a check has none. */
  readonly session: Session | null;
}

async function judge(token: string, env: NodeJS.ProcessEnv): Promise<Judgement> {
  const refusals: TokenRefusal[] = [];
  let settings = env;
  for (;;) {
    try {
      return { refusals, session: await serverVerifier(readConfig(settings))(token) };
    } catch (error) {
      const refusal = error instanceof AppError ? error.extras.cause : undefined;
      if (!(refusal instanceof TokenRefusal)) throw error;
      const isKnown = refusals.some(({ check }) => check === refusal.check);
      refusals.push(refusal);
      if (isKnown || Object.keys(refusal.remedy).length === 0) return { refusals, session: null };
      settings = { ...settings, ...refusal.remedy };
    }
  }
}

function advice({ remedy }: TokenRefusal): string {
  const settings = Object.entries(remedy).map(([name, value]) => `${name}=${value}`);
  return settings.length === 0 ? "no setting accepts it" : `set ${settings.join(" and ")}`;
}

function rolesLine({ actor: { roles } }: Session, token: string): string {
  if (roles.length > 0) return `roles: ${roles.join(", ")}`;
  const claim = pathsIn(claimsOf(token)).find(
    ([path, claims]) => !isPersonalClaim(path) && rolesIn(claims, path).length > 0,
  );
  const other =
    claim === undefined
      ? ""
      : `; if only administrators can set ${claim[0]}, set JWT_ROLES_CLAIM=${claim[0]} for those it contains`;
  return `roles: none, so it can do what any user can${other}`;
}

/** The claims, and those within them. */
function pathsIn(claims: JsonObject): readonly (readonly [string, JsonObject])[] {
  return Object.entries(claims).flatMap(([name, value]) => {
    const inner = isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [];
    return [name, ...inner].map((path) => [path, claims] as const);
  });
}
