import { describe, expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { AppError } from "../../../src/base/errors.ts";
import { whileSignedIn } from "../../../src/identity/auth/while-signed-in.ts";
import { endedAccess } from "../../../src/identity/users/ended-access.ts";
import { revocationsSince } from "../../../src/identity/users/revocations.sql.ts";
import { json, jsonWith, startApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { post } from "../../support/flights.ts";
import { postQuery } from "../../support/graphql.ts";
import { startIssuer } from "../../support/issuer.ts";
import { expectLimited } from "../../support/limited.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const clock = manualClock();
const app = appForAll({}, clock);
const own = { "x-skyhook-console": "1", "sec-fetch-site": "same-origin" };
const path = "/v1/auth/revoke";

const mint = (id: string, role: Role = "operator", seconds = 3_600) =>
  app.services.tokens.mint({ id, roles: [role] }, seconds);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const statusOf = async (token: string, at = "/v1/events") =>
  (await app.fetch(at, { headers: bearer(token) })).status;
const revoke = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields).toString(),
  });
const stored = () => app.services.storage.all(revocationsSince, { since: new Date(0) });
const audited = (query: string) => listed(app, `/v1/audit?${query}`, "admin");
const endAccess = async (subject: string) =>
  jsonWith(await app.as("admin", "/v1/revocations", post({ subject })), 200);

async function agentToken(actor: string): Promise<string> {
  const made = await app.as("operator", "/v1/sessions", post({ name: "x" }), actor);
  return String((await json(made))["token"]);
}

const agentAccepted = (token: string) =>
  app.services.agentSignIn(token).then(
    () => true,
    () => false,
  );

async function cookieFor(token: string): Promise<string> {
  const signedIn = await app.fetch("/v1/auth/session", post({}, { ...own, ...bearer(token) }));
  return signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
}
const withCookie = async (cookie: string) =>
  (await app.fetch("/v1/events", { headers: { cookie } })).status;

/** The same token, with other unused bits at the end of its signature. */
function reencoded(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) ^ 1);
}

describe("a revoked token", () => {
  test.each<[string, (token: string) => Promise<Response>]>([
    ["a form", (token) => revoke({ token, token_type_hint: "refresh_token" })],
    ["JSON", (token) => app.fetch(path, post({ token }))],
  ])(
    "sent as %s is refused everywhere; others of its subject are not [API2-21]",
    async (_, send) => {
      const [token, other] = [await mint("grace"), await mint("grace")];
      expect(await statusOf(token)).toBe(200);
      expect(await jsonWith(await send(token), 200)).toEqual({});
      for (const each of [token, reencoded(token)]) {
        expect(await statusOf(each)).toBe(401);
        expect(await agentAccepted(each)).toBe(false);
      }
      const query = postQuery("{ me { id } }", {}, bearer(token));
      expect((await app.fetch("/graphql", query)).status).toBe(401);
      expect(await statusOf(other)).toBe(200);
      const [entry] = await audited("action=token.revoked");
      expect(entry).toMatchObject({ actor: "grace", subject: "grace" });
    },
  );

  test("of an agent ends, and is recorded", async () => {
    const token = await agentToken("for agents");
    expect(await agentAccepted(token)).toBe(true);
    expect((await revoke({ token })).status).toBe(200);
    expect(await agentAccepted(token)).toBe(false);
    expect(await audited("actor=for agents&action=session.revoked")).toHaveLength(1);
  });

  test("that is an API key ends, by itself and with all access of its maker", async () => {
    const made = async () =>
      String((await json(await app.as("operator", "/v1/keys", post({ name: "ci" }), "ci")))["key"]);
    const [one, two] = [await made(), await made()];
    const at = "/v1/api/bookings";
    expect([await statusOf(one, at), await statusOf(two, at)]).toEqual([200, 200]);
    await revoke({ token: one });
    expect([await statusOf(one, at), await statusOf(two, at)]).toEqual([401, 200]);
    expect(await audited("action=key.revoked")).toMatchObject([{ actor: "ci" }]);
    expect(await endAccess("ci")).toMatchObject({ ended: 1 });
    expect(await statusOf(two, at)).toBe(401);
  });

  test("also ends the console's sessions that were opened with it", async () => {
    const before = await mint("opens");
    const earlier = await cookieFor(before);
    clock.advance(1_000);
    const token = await mint("opens");
    const cookie = await cookieFor(token);
    await revoke({ token });
    expect([await withCookie(earlier), await withCookie(cookie)]).toEqual([200, 401]);
  });

  test("is no cookie of the console, which stays", async () => {
    const cookie = await cookieFor(await mint("stays"));
    await revoke({ token: cookie.split("=")[1] ?? "" });
    expect(await withCookie(cookie)).toBe(200);
  });

  test("is forgotten when it has expired", async () => {
    const [short, long] = [await mint("short", "user", 60), await mint("long", "user", 7_200)];
    await revoke({ token: short });
    const count = (await stored()).length;
    clock.advance(91_000);
    await revoke({ token: long });
    expect(await stored()).toHaveLength(count);
    expect(await statusOf(long)).toBe(401);
  });

  test.each<[string, () => Promise<string>]>([
    ["unknown", async () => "x"],
    ["without a dot", async () => "a".repeat(500)],
    ["of an unknown agent", async () => `skyhook_mcp_${"a".repeat(43)}`],
    ["too long", async () => "a".repeat(5_000)],
    ["forged", async () => `${(await mint("grace")).slice(0, -6)}AAAAAA`],
    ["unsigned", async () => `${btoa('{"alg":"none"}')}.${(await mint("a")).split(".")[1]}.`],
    [
      "expired",
      async () => {
        const token = await mint("grace", "operator", 1);
        clock.advance(60_000);
        return token;
      },
    ],
    [
      "revoked already",
      async () => {
        const token = await mint("grace");
        await revoke({ token });
        return token;
      },
    ],
  ])("that is %s is 200, and nothing is stored [API2-22]", async (_, given) => {
    const token = await given();
    const [rows, entries] = [await stored(), await audited("action=token.revoked")];
    expect(await jsonWith(await revoke({ token }), 200)).toEqual({});
    expect(await stored()).toEqual(rows);
    expect(await audited("action=token.revoked")).toEqual(entries);
  });

  test("must be sent, once, in a known form", async () => {
    expect((await revoke({})).status).toBe(400);
    expect((await revoke({ token: "" })).status).toBe(400);
    const twice = "token=a&token=b";
    const type = { "content-type": "application/x-www-form-urlencoded" };
    expect((await app.fetch(path, { method: "POST", headers: type, body: twice })).status).toBe(
      400,
    );
    expect((await app.fetch(path, { method: "POST", body: "token" })).status).toBe(415);
  });

  test("counts for its subject: 60 in a minute", async () => {
    const tokens = await Promise.all(Array.from({ length: 61 }, () => mint("busy")));
    for (const token of tokens.slice(0, 60)) expect((await revoke({ token })).status).toBe(200);
    await expectLimited(await revoke({ token: tokens[60] ?? "" }), '"revocations";q=60;w=60', 60);
    expect((await revoke({ token: await mint("idle") })).status).toBe(200);
    clock.advance(60_000);
  });

  test("is refused by another instance within five seconds, without a query before", async () => {
    let queries = 0;
    const { storage } = app.services;
    const counted = {
      ...storage,
      all: (...given: Parameters<typeof storage.all>) => {
        queries += 1;
        return storage.all(...given);
      },
    };
    // Guarantee: only `all` is used, with the same arguments.
    const other = endedAccess(counted as typeof storage, clock);
    const token = await mint("two");
    const session = await app.services.tokens.verify(token);
    expect(await other.why(session)).toBeNull();
    await revoke({ token });
    const before = queries;
    clock.advance(4_999);
    expect([await other.why(session), queries]).toEqual([null, before]);
    clock.advance(1);
    expect(await other.why(session)).toBe("revoked");
    clock.advance(7_200_000);
    expect(await other.why(session)).toBe("revoked");
  });

  test("is refused at once, also if all revocations were being read meanwhile", async () => {
    const { storage } = app.services;
    const gate = Promise.withResolvers<void>();
    let isHeld = true;
    const held = {
      ...storage,
      async all(...given: Parameters<typeof storage.all>) {
        const isFirst = isHeld;
        const rows = await storage.all(...given);
        if (isFirst) await gate.promise;
        return rows;
      },
    };
    // Guarantee: only `all` is used, with the same arguments.
    const ended = endedAccess(held as typeof storage, clock);
    const token = await mint("meanwhile");
    const session = await app.services.tokens.verify(token);
    const reading = ended.why(session);
    isHeld = false;
    await revoke({ token });
    await ended.refresh();
    gate.resolve();
    await reading;
    expect(await ended.why(session)).toBe("revoked");
  });

  test("ends its streams within a minute", async () => {
    const token = await mint("streams");
    const ctx = { ...(await app.services.verify(token)), requestId: "" };
    let isEnded = false;
    async function* follow(signal: AbortSignal): AsyncGenerator<null, void> {
      yield null;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      isEnded = true;
    }
    const stream = whileSignedIn(ctx, clock, follow);
    await stream.next();
    const end = stream.next();
    await revoke({ token });
    for (let step = 0; step < 2; step += 1) {
      clock.advance(30_000);
      await Bun.sleep(0);
    }
    await until(() => isEnded);
    expect(await end).toMatchObject({ done: true });
  });
});

describe("a client that sends its credentials", () => {
  test("revokes its own tokens, and no others", async () => {
    const { client, secret } = await app.services.clients.add("ci", ["operator"]);
    const [its, others] = [await mint(client.id), await mint("somebody")];
    const credentials = { client_id: client.id, client_secret: secret };
    for (const token of [its, others, await agentToken("somebody")]) {
      expect((await revoke({ token, ...credentials })).status).toBe(200);
    }
    expect([await statusOf(its), await statusOf(others)]).toEqual([401, 200]);
    expect(await audited("actor=somebody&action=session.revoked")).toEqual([]);
  });

  test("is refused with a wrong secret, which counts as a failure of its address", async () => {
    const token = await mint("kept");
    const basic = { authorization: `Basic ${btoa("cli_1:wrong")}` };
    const problem = await jsonWith(await revoke({ token }, basic), 401);
    expect(problem).toMatchObject({ error: "invalid_client" });
    expect(await statusOf(token)).toBe(200);
    for (let failure = 1; failure < 20; failure += 1) await revoke({ token }, basic);
    const limited = await revoke({ token }, basic);
    await expectLimited(limited, '"auth-failures";q=20;w=60', 60, "too-many-auth-failures");
    clock.advance(60_000);
  });
});

describe("all access of a subject", () => {
  test("ends by e-mail address: tokens until now, sessions and tokens of agents [API2-23]", async () => {
    const user = await json(
      await app.as("admin", "/v1/users", post({ name: "Ada", email: "ada@example.com" })),
    );
    const id = String(user["id"]);
    const [token, agent] = [await mint(id), await agentToken(id)];
    const cookie = await cookieFor(token);
    const result = await endAccess("ADA@example.com");
    expect(result).toMatchObject({ ended: 2, subjects: expect.arrayContaining([id]) });
    expect([await statusOf(token), await withCookie(cookie)]).toEqual([401, 401]);
    expect(await agentAccepted(agent)).toBe(false);
    expect(await audited(`subject=${id}&action=access.revoked`)).toMatchObject([
      { actor: "test-admin" },
    ]);
    clock.advance(1_000);
    expect(await statusOf(await mint(id))).toBe(200);
    expect(await statusOf(token)).toBe(401);
  });

  test.each(["oidc:ada", "cli_1", "console:admin:Ada", "Ünal \u{1f600}"])(
    "of %s ends",
    async (id) => {
      const token = await mint(id);
      expect((await endAccess(id))["subjects"]).toContain(id);
      expect(await statusOf(token)).toBe(401);
      clock.advance(1_000);
    },
  );

  test("by an address that no user has is recorded without the address", async () => {
    expect(await endAccess("nobody@example.com")).toMatchObject({ ended: 0 });
    const [entry] = await audited("action=access.revoked");
    expect(entry).toMatchObject({ subject: "person" });
    expect(JSON.stringify(entry)).not.toContain("nobody");
  });

  test.each([
    ["urn:idp:7", "oidc:urn:idp:7"],
    ["https://idp.example/7", "oidc:https://idp.example/7"],
    ["Grace@Example.com", "oidc:grace@example.com"],
    ["Grace@Example.com", "grace@example.com"],
  ])("of %s is also that of %s", async (given, id) => {
    const token = await mint(id);
    await endAccess(given);
    expect(await statusOf(token)).toBe(401);
    clock.advance(1_000);
  });

  test("is ended by admins only, whose input is checked", async () => {
    const asked = await app.as("operator", "/v1/revocations", post({ subject: "x" }));
    expect(asked.status).toBe(403);
    for (const [subject, status] of [
      ["", 422],
      [" ", 422],
      ["ada\0", 422],
      ["x".repeat(300), 422],
      [7, 400],
      [undefined, 422],
    ] as const) {
      const response = await app.as("admin", "/v1/revocations", post({ subject }));
      expect([subject, response.status]).toEqual([subject, status]);
    }
  });

  test("opens no session and makes no token or key that was asked for just before", async () => {
    const token = await mint("racing");
    const session = await app.services.verify(token);
    await endAccess("racing");
    const { sessions, storedTokens } = app.services;
    const ctx = { ...session, requestId: "" };
    const where = { address: "", userAgent: "", requestId: "", replaced: null };
    const { expiresAt: endsAt, ...opener } = session;
    const late: Promise<unknown>[] = [
      sessions.open({ ...opener, endsAt, ...where }),
      storedTokens.createAgentToken(ctx, { name: "x" }, ""),
      storedTokens.createKey(ctx, { name: "x" }, ""),
    ];
    for (const each of late) {
      const error = await each.then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error instanceof AppError && error.code).toBe("invalid-token");
    }
    clock.advance(1_000);
  });
});

describe("with an identity provider", () => {
  async function started() {
    const issuer = await startIssuer(() => clock.now());
    const settings = {
      JWKS_URL: `${issuer.url}/jwks`,
      JWT_ISSUER: issuer.url,
      JWT_AUDIENCE: "the API",
    };
    const withIssuer = await startApp(settings, clock);
    const ask = (token: string, to = "/v1/sessions", init: RequestInit = {}) =>
      withIssuer.fetch(to, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init.headers)), ...bearer(token) },
      });
    const issue = (role: Role, claims: object = {}) =>
      issuer.issue({ roles: [role], aud: "the API", ...claims });
    const kinds = async (token: string) =>
      itemsOf((await json(await ask(token)))["data"]).map(({ kind }) => kind);
    return {
      app: withIssuer,
      ask,
      issue,
      kinds,
      async [Symbol.asyncDispose]() {
        await withIssuer.stop();
        await issuer.stop();
      },
    };
  }

  test("its tokens are revoked too, with or without a jti", async () => {
    await using run = await started();
    const token = await run.issue("operator");
    expect((await run.ask(token)).status).toBe(200);
    await run.app.fetch(path, post({ token }));
    expect((await run.ask(token)).status).toBe(401);
    clock.advance(1_000);
    expect((await run.ask(await run.issue("operator"))).status).toBe(200);
  });

  test("a later token with fewer roles ends what needs the lost one, once [API2-24]", async () => {
    await using run = await started();
    const admin = await run.issue("admin");
    const signIn = post({}, { ...own, ...bearer(admin) });
    expect((await run.app.fetch("/v1/auth/session", signIn)).status).toBe(200);
    expect((await run.ask(admin, "/v1/sessions", post({ name: "agent" }))).status).toBe(201);
    const root = await run.issue("admin", { sub: "root" });
    expect(await run.kinds(root)).toEqual(["agent", "console"]);
    clock.advance(1_000);
    // Of another person.
    await run.ask(await run.issue("user", { sub: "eve" }));
    // From before: it says nothing of what was granted later.
    await run.ask(await run.issue("user", { iat: Math.floor(clock.now() / 1_000) - 60 }));
    expect(await run.kinds(root)).toEqual(["agent", "console"]);
    // An operator still may have an agent, whose role is operator, but no console of an admin.
    await run.ask(await run.issue("operator"));
    expect(await run.kinds(root)).toEqual(["agent"]);
    await run.ask(await run.issue("user"));
    expect(await run.kinds(root)).toEqual([]);
    const entries = itemsOf(
      (await json(await run.ask(root, "/v1/audit?action=session.revoked")))["data"],
    );
    expect(entries).toMatchObject([
      { actor: "ada", detail: "role lost" },
      { actor: "ada", detail: "role lost" },
    ]);
  });
});
