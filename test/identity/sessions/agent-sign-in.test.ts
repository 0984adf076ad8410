import { describe, expect, test } from "bun:test";

import { AppError } from "../../../src/base/errors.ts";
import { tombstones } from "../../../src/identity/users/erasures.ts";
import { json, startApp, type TestApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { post } from "../../support/flights.ts";
import { issuerSettings, startIssuer } from "../../support/issuer.ts";
import { rpcRequest } from "../../support/mcp.ts";
import { itemsOf } from "../../support/operator.ts";

const publicUrl = "https://hooks.example.com";
const mcpUrl = `${publicUrl}/mcp`;
const path = "/v1/sessions";
const clock = manualClock();
const now = () => Math.floor(clock.now() / 1_000);

/** The error of a sign-in; null if there is none. */
async function errorOf(app: TestApp, token: string): Promise<AppError | null> {
  try {
    await app.services.agentSignIn(token);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const codeOf = async (app: TestApp, token: string) => (await errorOf(app, token))?.code ?? null;
const statusAt = async (app: TestApp, token: string) =>
  (await app.fetch("/v1/events", { headers: { authorization: `Bearer ${token}` } })).status;

async function agentToken(app: TestApp, body: object, bearer: string): Promise<string> {
  return String((await json(await app.as("operator", path, post(body), bearer)))["token"]);
}

describe("an agent without an identity provider", () => {
  test("signs in with a token for agents, until it is revoked", async () => {
    await using app = await startApp({ MCP_ALLOW: "writes,bodies" }, clock);
    const token = await agentToken(app, { name: "x", allowed: ["bodies"] }, "grace");
    const session = await app.services.agentSignIn(token);
    const [found] = itemsOf((await json(await app.as("operator", path, {}, "grace")))["data"]);
    expect(session).toMatchObject({
      actor: { id: "grace", roles: ["operator"] },
      allowed: ["bodies"],
      caller: String(found?.["id"]),
      expiresAt: new Date(clock.now() + 7 * 86_400_000),
    });
    await app.as("operator", `${path}/${session.caller}`, { method: "DELETE" }, "grace");
    expect(await codeOf(app, token)).toBe("invalid-token");
  });

  test.each([
    [undefined, []],
    ["writes", ["writes"]],
    [" bodies , writes ", ["bodies", "writes"]],
  ])("signs in with Skyhook's own token; MCP_ALLOW=%p allows %p", async (MCP_ALLOW, allowed) => {
    await using app = await startApp({ MCP_ALLOW }, clock);
    const actor = { id: "grace", roles: ["user"] } as const;
    const token = await app.services.tokens.mint(actor, 60);
    expect(await app.services.agentSignIn(token)).toMatchObject({ actor, allowed });
    expect(app.services.agentIssuer).toBeNull();
  });

  test("is refused without a valid token", async () => {
    await using app = await startApp({}, clock);
    const token = await agentToken(app, { name: "x" }, "grace");
    const wrong = ["", "x", "a.b.c", "skyhook_mcp_", `${token.slice(0, -1)}!`, `x${token}`];
    const other = `skyhook_mcp_${"a".repeat(43)}`;
    for (const each of [...wrong, other]) {
      expect([each, await codeOf(app, each)]).toEqual([each, "invalid-token"]);
    }
  });

  test("is refused after its user was erased", async () => {
    await using app = await startApp({}, clock);
    const own = await app.services.tokens.mint({ id: "grace", roles: ["operator"] }, 3_600);
    const token = await agentToken(app, { name: "x" }, "grace");
    expect(await codeOf(app, own)).toBeNull();
    await app.as("admin", "/v1/persons/erase", post({ person: "grace" }));
    expect(await app.services.storedTokens.find("agent", token)).toBeNull();
    for (const each of [own, token]) expect(await codeOf(app, each)).toBe("invalid-token");
  });
});

/** The settings of a server whose agents sign in at an issuer. */
const atIssuer = {
  JWKS_URL: (url: string) => ({
    JWKS_URL: `${url}/jwks`,
    JWT_ISSUER: url,
    JWT_AUDIENCE: "the API",
    PUBLIC_URL: publicUrl,
  }),
  OIDC_ISSUER: (url: string) =>
    issuerSettings({ url, clientId: "console", clientSecret: "secret" }, publicUrl),
};

describe.each([
  ["JWKS_URL", "ada", "the API"],
  ["OIDC_ISSUER", "oidc:ada", "console"],
] as const)("an agent that signs in at the issuer of %s", (setting, id, otherAudience) => {
  async function started(changes: Record<string, string | undefined> = {}) {
    const issuer = await startIssuer(() => clock.now());
    const app = await startApp({ ...atIssuer[setting](issuer.url), ...changes }, clock);
    return {
      app,
      issuer,
      async [Symbol.asyncDispose]() {
        await app.stop();
        await issuer.stop();
      },
    };
  }
  const operator = { roles: ["operator"], aud: mcpUrl };

  test("is known by its id there, and needs a token for this URL alone", async () => {
    await using run = await started({ MCP_ALLOW: "writes" });
    const { app, issuer } = run;
    const token = await issuer.issue(operator);
    expect(await app.services.agentSignIn(token)).toMatchObject({
      actor: { id, roles: ["operator"] },
      allowed: ["writes"],
      caller: id,
      expiresAt: new Date((now() + 330) * 1_000),
    });
    expect(app.services.agentIssuer).toBe(issuer.url);
    expect(await statusAt(app, token)).toBe(401);
    // Cached sessions of one are no sessions of the other.
    expect(await codeOf(app, token)).toBeNull();
    const several = await issuer.issue({ ...operator, aud: ["other", mcpUrl] });
    expect(await codeOf(app, several)).toBeNull();
    const user = await issuer.issue({ ...operator, roles: ["user"] });
    expect((await app.services.agentSignIn(user)).actor.roles).toEqual(["user"]);
  });

  test.each<[string, Record<string, unknown>, { hidden?: true }]>([
    ["for another audience", { aud: otherAudience }, {}],
    ["for the server's URL", { aud: publicUrl }, {}],
    ["for a URL that begins alike", { aud: `${mcpUrl}/x` }, {}],
    ["without an audience", { aud: undefined, client_id: mcpUrl }, {}],
    ["of another issuer", { iss: "https://evil.example" }, {}],
    ["that has expired", { exp: now() - 31 }, {}],
    ["that never expires", { exp: undefined }, {}],
    ["without a subject", { sub: undefined }, {}],
    ["for a client: an ID token", { nonce: "n" }, {}],
    ["signed with an unpublished key", {}, { hidden: true }],
  ])("is refused with a token %s", async (_, claims, { hidden }) => {
    await using run = await started();
    if (hidden) run.issuer.signsWith = "hidden";
    const token = await run.issuer.issue({ ...operator, ...claims });
    expect(await codeOf(run.app, token)).toBe("invalid-token");
  });

  test("is refused with an unsigned token, or one signed with a secret", async () => {
    await using run = await started();
    for (const signsWith of ["nothing", "secret"] as const) {
      run.issuer.signsWith = signsWith;
      const token = await run.issuer.issue(operator);
      expect(await codeOf(run.app, token)).toBe("invalid-token");
    }
  });

  test("waits while the issuer's keys are not available", async () => {
    await using run = await started();
    run.issuer.overrides.set("/jwks", () => new Response(null, { status: 500 }));
    const token = await run.issuer.issue(operator);
    expect(await codeOf(run.app, token)).toBe("unavailable");
    run.issuer.overrides.clear();
    clock.advance(60_000);
    expect(await codeOf(run.app, token)).toBeNull();
  });

  test("is refused after its user was erased", async () => {
    await using run = await started();
    const token = await run.issuer.issue(operator);
    expect(await codeOf(run.app, token)).toBeNull();
    const { storage, ended } = run.app.services;
    await storage.atomically(...tombstones([id], new Date(clock.now())));
    await ended.refresh();
    expect(await codeOf(run.app, token)).toBe("invalid-token");
  });

  test("uses Skyhook's own tokens only where the API accepts them", async () => {
    await using run = await started();
    const token = await run.app.services.tokens.mint({ id: "grace", roles: ["operator"] }, 60);
    const isRefused = setting === "JWKS_URL";
    expect(await codeOf(run.app, token)).toBe(isRefused ? "invalid-token" : null);
    expect(await statusAt(run.app, token)).toBe(isRefused ? 401 : 200);
  });

  test("logs why a token was refused, without advising a setting", async () => {
    await using run = await started();
    const token = await run.issuer.issue({ ...operator, aud: otherAudience });
    expect((await errorOf(run.app, token))?.extras.cause).toMatchObject({
      message: `it is not for ${mcpUrl}`,
      remedy: {},
    });
  });
});

test("without PUBLIC_URL, an agent needs a token for the API", async () => {
  await using issuer = await startIssuer(() => clock.now());
  const settings = { ...atIssuer.JWKS_URL(issuer.url), PUBLIC_URL: undefined };
  await using app = await startApp(settings, clock);
  const roles = ["operator"];
  expect(await codeOf(app, await issuer.issue({ roles, aud: "the API" }))).toBeNull();
  expect(await codeOf(app, await issuer.issue({ roles, aud: mcpUrl }))).toBe("invalid-token");
});

test("at /mcp, agents need the role operator; a token for agents has it, and a cookie opens nothing", async () => {
  await using app = await startApp({}, clock);
  const statusOf = async (token: string, headers?: Record<string, string>) =>
    (await app.app.handle(rpcRequest({ token, ...(headers && { headers }) }, "tools/list"))).status;
  expect(await statusOf(await agentToken(app, { name: "x" }, "grace"))).toBe(200);
  for (const [role, status] of [
    ["user", 403],
    ["operator", 200],
  ] as const) {
    const token = await app.services.tokens.mint({ id: "grace", roles: [role] }, 60);
    expect([role, await statusOf(token)]).toEqual([role, status]);
  }
  const init = { method: "POST", headers: { "x-skyhook-console": "1" } };
  const signedIn = await app.as("operator", "/v1/auth/session", init);
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect(await statusOf("", { cookie, authorization: "" })).toBe(401);
  expect(await statusOf(cookie.replace("skyhook=", ""))).toBe(401);
});
