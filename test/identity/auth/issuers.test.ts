import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { startApp } from "../../support/app.ts";
import { runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();
const now = Math.floor(Date.now() / 1_000);
const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
const cognito = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Ab1Cd2Ef3";

interface Issued {
  readonly header: { readonly alg: "RS256" | "PS256" | "ES256" | "EdDSA"; readonly typ?: string };
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Access tokens in the default shape of each issuer, as its documentation shows them, with the role operator. */
const issuers: Readonly<Record<string, Issued>> = {
  Auth0: {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: "https://acme.eu.auth0.com/",
      sub: "auth0|507f1f77bcf86cd799439011",
      aud: ["https://skyhook.example.com", "https://acme.eu.auth0.com/userinfo"],
      azp: "k2Vb0ZYdHsXs1",
      scope: "openid profile",
      "https://skyhook.example.com/roles": ["operator"],
    },
  },
  Keycloak: {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: "https://id.example.com/realms/ops",
      sub: "f1a9c1b4-7b0d-4d0c-8f0a-2f1f2c3b4d5e",
      aud: ["skyhook-api", "account"],
      typ: "Bearer",
      // Versions before 24 copied it from the request.
      nonce: "n-0S6_WzA2Mj",
      azp: "console",
      realm_access: { roles: ["offline_access", "operator"] },
      resource_access: { account: { roles: ["manage-account"] } },
    },
  },
  "Amazon Cognito": {
    header: { alg: "RS256" },
    claims: {
      iss: cognito,
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      client_id: "5f4dcc3b5aa765d61d8327deb8",
      token_use: "access",
      scope: "aws.cognito.signin.user.admin",
      "cognito:groups": ["operator"],
      username: "ada",
    },
  },
  "Microsoft Entra ID, tokens of version 1": {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: `https://sts.windows.net/${tenant}/`,
      sub: "8b5IqPLvnmMWAz0mN9CAWUqZtSvRvkP0h6QnOtmrqXk",
      aud: "api://skyhook",
      appid: "0f5bb0a7-8a0e-4d2d-a0b4-b29eb2f5a1d0",
      appidacr: "1",
      roles: ["operator"],
      ver: "1.0",
    },
  },
  "Microsoft Entra ID, tokens of version 2": {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: `https://login.microsoftonline.com/${tenant}/v2.0`,
      sub: "8b5IqPLvnmMWAz0mN9CAWUqZtSvRvkP0h6QnOtmrqXk",
      aud: "6e74172b-be56-4843-9ff4-e66a39bb12e3",
      azp: "0f5bb0a7-8a0e-4d2d-a0b4-b29eb2f5a1d0",
      azpacr: "1",
      roles: ["operator"],
      ver: "2.0",
    },
  },
  Okta: {
    header: { alg: "RS256" },
    claims: {
      iss: "https://acme.okta.com/oauth2/default",
      sub: "ada@example.com",
      aud: "api://default",
      cid: "nmdP1fcyvdVO11AL7ECm",
      uid: "00uid4BxXw6I6TV4m0g3",
      scp: ["openid"],
      ver: 1,
      groups: ["Everyone", "operator"],
    },
  },
  Zitadel: {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: "https://acme.zitadel.cloud",
      sub: "260242264868201995",
      aud: ["261107239812038657", "260243216920797442"],
      client_id: "260243216920797442",
      "urn:zitadel:iam:org:project:roles": { operator: { "259254020363517268": "acme.example" } },
    },
  },
  "Ory Hydra": {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: "https://acme.projects.oryapis.com",
      sub: "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
      aud: ["https://skyhook.example.com"],
      client_id: "a1b2c3",
      ext: { roles: ["operator"] },
      scp: ["openid"],
    },
  },
  Clerk: {
    header: { alg: "RS256", typ: "JWT" },
    claims: {
      iss: "https://clerk.example.com",
      sub: "user_2bCbqwF3Vdzu7Zr7",
      azp: "https://app.example.com",
      sid: "sess_2aBcDeF",
      metadata: { role: "operator" },
    },
  },
  Supabase: {
    header: { alg: "ES256", typ: "JWT" },
    claims: {
      iss: "https://abcdefghijklmnop.supabase.co/auth/v1",
      sub: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
      aud: "authenticated",
      role: "authenticated",
      aal: "aal1",
      app_metadata: { provider: "email", roles: ["operator"] },
    },
  },
};

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

const page = readFileSync("docs/operations.md", "utf8");
const [, listed = ""] = /<!-- issuers -->\n```ini\n([\s\S]*?)```/.exec(page) ?? [];
/** The settings that the documentation lists, by issuer. */
const documented = new Map(
  listed.split("\n\n").map((block) => {
    const [name = "", ...lines] = block.trim().split("\n");
    const settings = lines.map((line) => line.split(/=(.*)/, 2));
    return [name.replace("# ", ""), Object.fromEntries(settings)] as const;
  }),
);

const settingsFor = (name: string): Record<string, string> => ({
  ...documented.get(name),
  JWKS_URL: jwks.url.href,
});

test("the documentation has the settings of every issuer", () => {
  expect([...documented.keys()]).toEqual(Object.keys(issuers));
});

describe.each(Object.entries(issuers))("an access token of %s", (name, issued) => {
  test("is accepted with the documented settings, but not for another audience or use", async () => {
    await using app = await startApp(settingsFor(name));
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
    const right = await explained(settingsFor(name));
    expect(right.err).toBe("");
    expect(right.out).toContain("roles: operator\nThe server accepts this token.");
    expect(right.code).toBe(0);
    const bare = await explained({ JWKS_URL: jwks.url.href });
    expect(bare.code).toBe(1);
    const { JWKS_URL: _, JWT_ROLES_CLAIM: roles, ...needed } = settingsFor(name);
    for (const [setting, value] of Object.entries(needed)) {
      expect(bare.out).toContain(`${setting}=${value}`);
    }
    if (roles !== undefined) expect(bare.out).toContain(`JWT_ROLES_CLAIM=${roles}`);
    for (const part of token.split(".")) expect(bare.out + right.out).not.toContain(part);
  });
});

test("the log says why tokens are refused, once for equal ones, and never the token", async () => {
  const file = join(taken.newFolder(), "log");
  const logFd = openSync(file, "w");
  const bearer = await signed(issuers["Okta"] ?? { header: { alg: "RS256" }, claims: {} });
  const env = { ...settingsFor("Auth0"), LOG_LEVEL: "warn", LOG_FORMAT: "json" };
  const app = await startApp(env, undefined, { logFd });
  for (let n = 0; n < 5; n += 1) {
    const headers = { authorization: `Bearer ${bearer}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
  }
  await app.stop();
  closeSync(logFd);
  const log = readFileSync(file, "utf8");
  expect(log.match(/access token refused: its iss is https:\/\/acme\.okta\.com/g)).toHaveLength(1);
  for (const part of bearer.split(".")) expect(log).not.toContain(part);
});
