import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { startApp } from "../../support/app.ts";
import { runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();
const now = Math.floor(Date.now() / 1_000);

interface Issued {
  /** Those that accept the token, besides `JWKS_URL`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly header: { readonly alg: "RS256" | "PS256" | "ES256" | "EdDSA"; readonly typ?: string };
  readonly claims: Readonly<Record<string, unknown>>;
}

const file = readFileSync(join(import.meta.dir, "issuers.json"), "utf8");
/**
 * Access tokens in the default shape of each issuer, as its documentation shows them, with the role operator.
 * Guarantee: each is signed and accepted below.
 */
const issuers = JSON.parse(file) as Readonly<Record<string, Issued>>;

const keys = new Map<string, Awaited<ReturnType<typeof generateKeyPair>>>();
let jwks: Bun.Server<undefined>;
beforeAll(async () => {
  const published: object[] = [];
  for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
    const pair = await generateKeyPair(alg, { extractable: true });
    keys.set(alg, pair);
    published.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg, use: "sig" });
  }
  jwks = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ keys: published }),
  });
});
afterAll(() => jwks.stop(true));

async function signed({ header, claims }: Issued): Promise<string> {
  const key = keys.get(header.alg);
  if (key === undefined) throw new Error(`No key for ${header.alg}`);
  return new SignJWT({ iat: now, exp: now + 3_600, ...claims })
    .setProtectedHeader({ kid: header.alg, ...header })
    .sign(key.privateKey);
}

const withKeys = ({ settings }: Issued): Record<string, string> => ({
  ...settings,
  JWKS_URL: jwks.url.href,
});

test.each(Object.entries(issuers))("docs/sign-in.md names the claims of %s", (name, issued) => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/sign-in.md"), "utf8");
  const [issuer = ""] = name.split(",");
  const [row = ""] = new RegExp(`^\\| ${issuer} \\|.*`, "m").exec(page) ?? [];
  const { JWT_ISSUER: _, JWT_AUDIENCE: __, ...claims } = issued.settings;
  for (const [setting, claim] of Object.entries(claims)) {
    // A URL is the administrator's choice.
    expect(row).toContain(claim.includes("://") ? setting : `${setting}=${claim}`);
  }
});

describe.each(Object.entries(issuers))("an access token of %s", (_, issued) => {
  test("is accepted with the issuer's settings, but not for another audience or use", async () => {
    await using app = await startApp(withKeys(issued));
    const statusWith = async (bearer: string) =>
      (await app.fetch("/v1/events", { headers: { authorization: `Bearer ${bearer}` } })).status;
    // Its role too.
    expect(await statusWith(await signed(issued))).toBe(200);
    const audiences = ["aud", "azp", "client_id"].filter((claim) => claim in issued.claims);
    const others: readonly object[] = [
      Object.fromEntries(audiences.map((claim) => [claim, "other"])),
      // ID tokens of each kind.
      { token_use: "id", typ: undefined },
      { token_use: undefined, typ: "ID" },
      { token_use: undefined, typ: undefined, nonce: "n-0S6_WzA2Mj" },
      { token_use: undefined, typ: undefined, nonce: undefined, at_hash: "MTIzNDU2Nzg5MDEyMzQ1Ng" },
    ];
    for (const other of others) {
      const bearer = await signed({ ...issued, claims: { ...issued.claims, ...other } });
      expect([other, await statusWith(bearer)]).toEqual([other, 401]);
    }
  });

  test("is explained, with the settings that accept it", async () => {
    const folder = taken.newFolder();
    const token = await signed(issued);
    const explained = (env: Record<string, string>) =>
      runSkyhook(["token", "explain"], { cwd: folder, env, input: `${token}\n` });
    const right = await explained(withKeys(issued));
    expect(right.err).toBe("");
    expect(right.out).toContain(
      "roles: operator\nThe server accepts this token, unless it was revoked.",
    );
    expect(right.code).toBe(0);
    const bare = await explained({ JWKS_URL: jwks.url.href });
    expect(bare.code).toBe(1);
    const { JWKS_URL: _, JWT_ROLES_CLAIM: roles, ...needed } = withKeys(issued);
    for (const [setting, value] of Object.entries(needed)) {
      expect(bare.out).toContain(`${setting}=${value}`);
    }
    if (roles !== undefined) expect(bare.out).toContain(`JWT_ROLES_CLAIM=${roles}`);
    for (const part of token.split(".")) expect(bare.out + right.out).not.toContain(part);
  });
});

test("the log says why tokens are refused, once for equal ones, and never the token", async () => {
  const { logFd, text } = taken.log();
  const { Okta: issued, Auth0: other } = issuers;
  if (issued === undefined || other === undefined) throw new Error("issuers.json lacks them");
  const bearer = await signed(issued);
  const env = { ...withKeys(other), LOG_LEVEL: "warn", LOG_FORMAT: "json" };
  const app = await startApp(env, undefined, { logFd });
  for (let n = 0; n < 5; n += 1) {
    const headers = { authorization: `Bearer ${bearer}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
  }
  await app.stop();
  const log = text();
  expect(log.match(/access token refused: its iss is https:\/\/acme\.okta\.com/g)).toHaveLength(1);
  for (const part of bearer.split(".")) expect(log).not.toContain(part);
});
