import { jwt } from "@elysiajs/jwt";

import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { type Actor, consolePrefix, type Role, unnamedConsole } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isName, nameRule } from "../../base/name.ts";
import { programName } from "../../base/program-name.ts";
import type { Storage } from "../../db/storage.ts";
import { useOnce } from "../idempotency/idempotent.ts";

import { maxTokenLength, sessionOf, type TokenOptions } from "./token.ts";

/** A code's lifetime: long enough to click a link. */
export const codeTtlSeconds = 120;
/** How long a used code is remembered after it expires: an instance whose clock is behind still accepts it. */
const usedCodeKeptMs = 600_000;

const maxNameLength = 60;
export const consoleNameRule = nameRule(maxNameLength);
/** Characters that show nothing, join nothing and order nothing, which no name needs: two names would look the same. */
const hidden =
  /(?!\u200c|\u200d|\u200e|\u200f|\u061c|\ufe0e|\ufe0f)[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The name of who signs in by a link, written in one way; null if the text is not a name. */
export function readConsoleName(text: string): string | null {
  const name = text
    .normalize("NFC")
    .trim()
    .replaceAll(/[\p{Zs}\t]+/gu, " ");
  return isName(name, maxNameLength) && !hidden.test(name) ? name : null;
}

/**
 * Who signs in by a link, with the name that they give. It is not verified, so the id has the role too: an operator who
 * takes an admin's name is not that admin, and does not read what is theirs. A link that was made for a name keeps it.
 */
export function namedActor(actor: Actor, name: string | null): Actor {
  if (actor.id !== unnamedConsole || name === null) return actor;
  return { ...actor, id: `${consolePrefix}${actor.roles.join("+")}:${name}` };
}

/** The most codes of this process at a time. */
const maxIssued = 100;

const algorithm = "HS256";
/** Differs from the type of access tokens, so that neither is accepted as the other (RFC 8725 section 3.11). */
const type = "skyhook-console-code+jwt";

/**
 * Makes a code that signs in to the console once. Needs the server's signing key. `name`: a label for
 * the audit list. It is not verified.
 */
export function mintConsoleCode(
  issuing: TokenOptions,
  role: Role,
  clock: Clock,
  name: string | null = null,
): Promise<string> {
  // The prefix keeps a name apart from the ids and addresses of users, whatever it is.
  const sub = name === null ? unnamedConsole : `${consolePrefix}${name}`;
  const exp = Math.floor(clock.now() / 1_000) + codeTtlSeconds;
  const claims = { sub, jti: crypto.randomUUID(), exp, roles: [role] };
  return signerOf(issuing).sign(claims);
}

export interface ConsoleCodes {
  /** Makes a short code that only this process accepts, for a program that prints its own link. */
  issue(role: Role, ttlSeconds: number): string;
  /** Returns who a code signs in, and marks the code as used. Throws `invalid-token`. */
  redeem(code: string): Promise<Actor>;
}

export function consoleCodes(issuing: TokenOptions, storage: Storage, clock: Clock): ConsoleCodes {
  const signer = signerOf(issuing);
  const issued = new Map<string, { readonly role: Role; readonly untilMs: number }>();

  /** Null if this process has not issued the code. */
  function redeemIssued(code: string): Actor | null {
    const found = issued.get(code);
    if (found === undefined) return null;
    issued.delete(code);
    if (found.untilMs < clock.now()) throw invalidCode();
    return { id: unnamedConsole, roles: [found.role] };
  }

  async function verified(code: string) {
    if (code.length > maxTokenLength) throw invalidCode();
    const claims: unknown = await signer.verify(code, {
      algorithms: [algorithm],
      typ: type,
      issuer: issuing.issuer,
      audience: issuing.audience,
      requiredClaims: ["exp", "jti", "sub"],
      currentDate: new Date(clock.now()),
    });
    const session = sessionOf(claims);
    const { jti }: { jti?: unknown } = typeof claims === "object" && claims !== null ? claims : {};
    if (session === null || typeof jti !== "string") throw invalidCode();
    return { ...session, jti };
  }

  return {
    issue(role, ttlSeconds) {
      // 128 random bits cannot be guessed (RFC 6749 section 10.10).
      const code = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
      const untilMs = clock.now() + ttlSeconds * 1_000;
      setNewest(issued, code, { role, untilMs }, maxIssued);
      return code;
    },
    async redeem(code) {
      const own = redeemIssued(code);
      if (own !== null) return own;
      const { actor, expiresAt, jti } = await verified(code);
      const times = [
        new Date(clock.now()),
        new Date(expiresAt.getTime() + usedCodeKeptMs),
      ] as const;
      await storage.atomically(useOnce("console-code", jti, times, invalidCode()));
      return actor;
    },
  };
}

function signerOf({ key, issuer, audience }: TokenOptions) {
  return jwt({ secret: key, alg: algorithm, typ: type, iss: issuer, aud: audience }).decorator.jwt;
}

function invalidCode(): AppError {
  const detail = `This link was already used, has expired, or was signed with another server's key. Run \`${programName} console\` with this server's settings to get a new link.`;
  return new AppError("invalid-token", detail);
}
