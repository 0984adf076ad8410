import { beforeEach, describe, expect, setSystemTime, test } from "bun:test";

import { exportJWK, generateKeyPair } from "jose";

import { json, signed, startApp, type TestApp, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { type FakeIssuer, issuerSettings, startIssuer } from "../../support/issuer.ts";
import { listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const publicUrl = "https://hooks.example.com";
const startPath = "/console/oidc/start";

const taken = resources();
let app: TestApp;
let issuer: FakeIssuer;
let logged: () => string;
beforeEach(async () => {
  const { logFd, text } = taken.log();
  logged = text;
  issuer = await startIssuer(() => app.clock.now());
  taken.ends.push(() => issuer.stop());
  app = await taken.app(
    { ...issuerSettings(issuer, publicUrl), LOG_LEVEL: "debug", LOG_FORMAT: "json" },
    undefined,
    { logFd },
  );
});

const cookiesOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .join("; ");

interface Attempt {
  readonly cookie: string;
  /** The path and query that the issuer redirects to. */
  readonly callback: string;
}

/** Begins a sign-in and lets the issuer answer. */
async function begun(query = "", at = app, by = issuer): Promise<Attempt> {
  const started = await at.fetch(`${startPath}${query}`);
  expect(started.status).toBe(302);
  const location = started.headers.get("location") ?? "";
  expect(location).toStartWith(`${by.url}/authorize?`);
  const answer = await fetch(location, { redirect: "manual" });
  const back = new URL(answer.headers.get("location") ?? "");
  expect(back.origin).toBe(publicUrl);
  return { cookie: cookiesOf(started), callback: back.pathname + back.search };
}

const finish = ({ cookie, callback }: Attempt, headers: Record<string, string> = {}, at = app) =>
  at.fetch(callback, { headers: { cookie, ...headers } });

/** Changes one parameter of the callback; null removes it. */
function altered({ cookie, callback }: Attempt, name: string, value: string | null): Attempt {
  const url = new URL(callback, publicUrl);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return { cookie, callback: url.pathname + url.search };
}

async function expectRejected(response: Response, status: number, code: string): Promise<string> {
  const problem = await json(response);
  expect([response.status, problem["code"]]).toEqual([status, code]);
  expect(response.headers.getSetCookie().filter((cookie) => cookie.includes("skyhook="))).toEqual(
    [],
  );
  return String(problem["detail"]);
}

type Rejection = readonly [status: number, code: string];
const unavailable: Rejection = [503, "unavailable"];
const invalid: Rejection = [401, "invalid-token"];

describe("sign-in by OpenID Connect", () => {
  test("opens a session, keeps the deep link, and is audited", async () => {
    const place = "#/events/evt_1?provider=code_host";
    const attempt = await begun(`?return=${encodeURIComponent(place)}`);
    const response = await finish(attempt);
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe(`${publicUrl}/console${place}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const [session = "", cleared = ""] = response.headers.getSetCookie();
    expect(session).toMatch(
      /^__Host-skyhook=[\w-]{43}; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict$/,
    );
    expect(cleared).toStartWith("__Host-skyhook-oidc=; ");
    expect(cleared).toContain("Max-Age=0");
    const headers = { cookie: cookiesOf(response) };
    expect(await json(await app.fetch("/v1/auth/session", { headers }))).toMatchObject({
      actor: "oidc:ada",
      roles: ["operator"],
    });
    expect((await app.fetch("/v1/events", { headers })).status).toBe(200);
    const [entry] = await listed(app, "/v1/audit", "admin");
    expect(entry).toMatchObject({ actor: "oidc:ada", action: "session.opened" });
  });

  test("keeps state, nonce and verifier in a sealed cookie for ten minutes", async () => {
    const started = await app.fetch(startPath);
    const [cookie = ""] = started.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-skyhook-oidc=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    );
    const parameters = new URL(started.headers.get("location") ?? "").searchParams;
    expect(parameters.get("code_challenge_method")).toBe("S256");
    expect(parameters.get("redirect_uri")).toBe(`${publicUrl}/console/oidc/callback`);
    const state = parameters.get("state") ?? "";
    expect(Buffer.from(cookie, "base64url").toString()).not.toContain(state);
    const attempt = await begun();
    app.clock.advance(600_000);
    await expectRejected(await finish(attempt), 401, "invalid-token");
    expect(issuer.requests).not.toContain("/token");
  });

  test("has its own state, nonce and verifier", async () => {
    for (const name of ["state", "nonce", "code_challenge"]) {
      const starts = await Promise.all([1, 2, 3].map(() => app.fetch(startPath)));
      const values = starts.map((started) =>
        new URL(started.headers.get("location") ?? "").searchParams.get(name),
      );
      expect(new Set(values).size).toBe(3);
      for (const value of values) expect(value).toMatch(/^[\w-]{43}$/);
    }
  });

  test("works once: a replayed callback opens no session [API2-17]", async () => {
    const attempt = await begun();
    expect((await finish(attempt)).status).toBe(302);
    await expectRejected(await finish(attempt), 401, "invalid-token");
    expect(issuer.requests.filter((path) => path === "/token")).toHaveLength(1);
  });

  test("works once for simultaneous callbacks", async () => {
    const attempt = await begun();
    const all = await Promise.all(Array.from({ length: 5 }, () => finish(attempt)));
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      302, 401, 401, 401, 401,
    ]);
    expect(issuer.requests.filter((path) => path === "/token")).toHaveLength(1);
  });

  test("needs its callback in the address bar by GET", async () => {
    const { cookie, callback } = await begun();
    for (const method of ["POST", "PUT"]) {
      expect((await app.fetch(callback, { method, headers: { cookie } })).status).toBe(405);
    }
    expect(issuer.tokens).toEqual([]);
  });

  test.each([
    ["state", "wrong"],
    ["state", null],
    ["iss", "https://evil.example"],
    ["iss", null],
    ["code", null],
    ["response", "a.b.c"],
    ["id_token", "a.b.c"],
  ])(
    "rejects a callback with the parameter %s=%p before it redeems the code",
    async (name, value) => {
      const attempt = altered(await begun(), name, value);
      // Only the issuer answers with an ID token here.
      await expectRejected(await finish(attempt), ...(name === "id_token" ? unavailable : invalid));
      expect(issuer.tokens).toEqual([]);
    },
  );

  test("rejects a callback of another browser", async () => {
    const [mine, other] = [await begun(), await begun()];
    for (const cookie of ["", other.cookie, "__Host-skyhook-oidc=x", `${mine.cookie}AAAA`]) {
      await expectRejected(await finish({ ...mine, cookie }), 401, "invalid-token");
    }
  });

  const past = () => Math.floor(app.clock.now() / 1_000) - 60;
  test("records a subject of 255 characters, which the audit list finds", async () => {
    const sub = "s".repeat(255);
    issuer.claims = { roles: ["admin"], sub };
    expect((await finish(await begun())).status).toBe(302);
    const entries = await listed(app, `/v1/audit?actor=oidc:${sub}`, "admin");
    expect(entries).toMatchObject([{ action: "session.opened", actor: `oidc:${sub}` }]);
    const longer = await app.as("admin", `/v1/audit?actor=oidc:${sub}s`);
    expect(await json(longer)).toMatchObject({ status: 400, code: "invalid-parameter" });
  });

  test.each<readonly [string, () => FakeIssuer["claims"]]>([
    ["another nonce", () => ({ nonce: "other" })],
    ["no nonce", () => ({ nonce: undefined })],
    ["another audience", () => ({ aud: "other-client" })],
    [
      "several audiences, for another party",
      () => ({ aud: [issuer.clientId, "other"], azp: "other" }),
    ],
    ["another issuer", () => ({ iss: "https://evil.example" })],
    ["an end in the past", () => ({ exp: past() })],
    ["no end", () => ({ exp: undefined })],
    ["no subject", () => ({ sub: undefined })],
    ["a subject with control characters", () => ({ sub: "a\nb" })],
  ])("rejects an ID token with %s [API2-16]", async (_, claims) => {
    issuer.claims = { roles: ["admin"], ...claims() };
    await expectRejected(await finish(await begun()), 401, "invalid-token");
  });

  test.each(["hidden", "secret", "nothing"] as const)(
    "rejects an ID token that is signed with: %s [API2-19]",
    async (key) => {
      issuer.signsWith = key;
      issuer.claims = { roles: ["admin"] };
      await expectRejected(await finish(await begun()), 401, "invalid-token");
    },
  );

  test.each([
    ["another key of the id before it", { kid: "k1" }, true],
    ["an encryption key of the id before it", { kid: "k1", use: "enc" }, true],
    ["keys without ids", {}, true],
    ["only a key for encryption", null, false],
  ])("finds the key among those that the issuer publishes: %s", async (_, header, isFound) => {
    const { jwk: own } = issuer;
    const { publicKey } = await generateKeyPair("RS256");
    const other = { ...(await exportJWK(publicKey)), ...header };
    const { kid: __, ...unnamed } = own;
    const keys =
      header === null ? [{ ...own, use: "enc" }] : [other, "kid" in header ? own : unnamed];
    issuer.keyId = header === null || "kid" in header ? "k1" : null;
    issuer.overrides.set("/jwks", () => Response.json({ keys }));
    const response = await finish(await begun());
    if (isFound) expect(response.status).toBe(302);
    else await expectRejected(response, 401, "invalid-token");
  });

  test("accepts a key that replaced another under its id, and none that the issuer has not", async () => {
    const other = { ...(await exportJWK((await generateKeyPair("RS256")).publicKey)), kid: "k1" };
    issuer.overrides.set("/jwks", () => Response.json({ keys: [other] }));
    await expectRejected(await finish(await begun()), 401, "invalid-token");
    issuer.overrides.clear();
    setSystemTime(new Date(Date.now() + 31_000));
    try {
      expect((await finish(await begun())).status).toBe(302);
    } finally {
      setSystemTime();
    }
  });

  test("rejects a repeated parameter", async () => {
    const { cookie, callback } = await begun();
    const response = await finish({ cookie, callback: `${callback}&code=other` });
    await expectRejected(response, 401, "invalid-token");
    expect(issuer.tokens).toEqual([]);
  });

  test.each<Record<string, string>>([
    { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
    { "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
    { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
  ])("is for the address bar only, not for %j", async (headers) => {
    const attempt = await begun();
    const before = issuer.requests.length;
    for (let count = 0; count < 25; count++) {
      await expectRejected(await finish(attempt, headers), 403, "cross-site-request");
    }
    const started = await app.fetch(startPath, { headers });
    await expectRejected(started, 403, "cross-site-request");
    expect(issuer.requests).toHaveLength(before);
    const navigation = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await finish(attempt, navigation)).status).toBe(302);
  });

  test("goes on after a restart, or on another instance", async () => {
    const attempt = await begun();
    const settings = issuerSettings(issuer, publicUrl);
    await using other = await startApp(settings, app.clock);
    expect((await finish(attempt, {}, other)).status).toBe(302);
  });

  test("sends no code to another issuer, for another client or to another address [API2-20]", async () => {
    const attempt = await begun();
    await using second = await startIssuer(() => app.clock.now());
    for (const settings of [
      issuerSettings(second, publicUrl),
      { ...issuerSettings(issuer, publicUrl), OIDC_CLIENT_ID: "other" },
      issuerSettings(issuer, "https://other.example.com"),
    ]) {
      await using other = await startApp(settings, app.clock);
      await expectRejected(await finish(attempt, {}, other), 401, "invalid-token");
    }
    expect([...issuer.requests, ...second.requests]).not.toContain("/token");
  });

  test("explains that a user has no role, and escapes the name", async () => {
    issuer.claims = { email: "<b>ada</b>@example.com", roles: ["user", "Admin"] };
    const response = await finish(await begun(), { accept: "text/html" });
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toStartWith("text/html");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain("as &lt;b&gt;ada&lt;/b&gt;@example.com, but have no role");
    expect(response.headers.getSetCookie().join()).not.toContain("__Host-skyhook=");
  });

  test("without a former role ends the sessions that have it", async () => {
    const headers = { cookie: cookiesOf(await finish(await begun())) };
    const status = async () => (await app.fetch("/v1/events", { headers })).status;
    app.clock.advance(1);
    await finish(await begun());
    expect(await status()).toBe(200);
    issuer.claims = { roles: ["user"] };
    app.clock.advance(1);
    await expectRejected(await finish(await begun()), 403, "insufficient-scope");
    expect(await status()).toBe(401);
    const ended = await listed(app, "/v1/audit?action=session.revoked", "admin");
    expect(ended).toMatchObject([{ detail: "role lost" }, { detail: "role lost" }]);
  });

  test("shows why the issuer refused, but not the issuer's text", async () => {
    const attempt = altered(await begun(), "error", "access_denied");
    const response = await finish(altered(attempt, "error_description", "call 555-1234"), {
      accept: "text/html",
    });
    expect(response.status).toBe(401);
    const page = await response.text();
    expect(page).toContain("access_denied");
    expect(page).not.toContain("555");
  });

  test.each([
    "https://evil.example",
    "//evil.example",
    "/console#/events",
    "#//\\evil",
    "#/a\r\nset-cookie: x=1",
    "javascript:alert(1)",
    `#/${"x".repeat(1_000)}`,
  ])("rejects the return address %j", async (place) => {
    const response = await app.fetch(`${startPath}?return=${encodeURIComponent(place)}`);
    await expectRejected(response, 400, "invalid-parameter");
    expect(issuer.requests).toEqual([]);
  });

  test("blocks an address after too many failures, but not its webhooks and tokens", async () => {
    const attempt = await begun();
    const statuses: number[] = [];
    for (let count = 0; count < 22; count++) {
      statuses.push((await finish({ ...attempt, cookie: "" })).status);
    }
    expect(statuses.at(0)).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    const delivery = signed("code_host", "{}", app.clock);
    expect((await app.fetch("/webhooks/code_host", delivery)).status).toBe(200);
    expect((await app.fetch("/v1/auth/token", { method: "POST" })).status).toBe(415);
  });

  test("writes no token, code or name to the log [API2-18]", async () => {
    const attempt = await begun();
    issuer.claims = { email: "ada@example.com", nonce: "other" };
    await finish(attempt);
    issuer.claims = { email: "ada@example.com" };
    await finish(await begun());
    const failures = () => logged().split("sign-in by OpenID Connect failed").length - 1;
    await until(() => failures() === 2);
    const log = logged();
    const code = new URL(attempt.callback, publicUrl).searchParams.get("code") ?? "";
    expect(issuer.tokens).toHaveLength(4);
    for (const secret of [...issuer.tokens, code, issuer.clientSecret, "ada@example.com"]) {
      expect(log).not.toContain(secret);
    }
  });
});

describe("an issuer that fails", () => {
  const huge = () => new Response(new Uint8Array(300 * 1024).fill(32), { headers: asJson });
  const asJson = { "content-type": "application/json" };
  const metadataPath = "/.well-known/openid-configuration";

  test.each<readonly [string, () => Response, Rejection?]>([
    ["an error", () => new Response("down", { status: 500 })],
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["a huge response", huge],
    ["no JSON", () => new Response("{", { headers: asJson })],
    ["no content", () => new Response(null, { status: 204 })],
    ["a redirect", () => Response.redirect("https://evil.example/", 302)],
    ["an empty object", () => Response.json({}), invalid],
    ["null", () => Response.json(null), invalid],
  ])("with %s at any step leads to a clear 503", async (_, answer, later = unavailable) => {
    issuer.overrides.set(metadataPath, answer);
    const detail = await expectRejected(await app.fetch(startPath), 503, "unavailable");
    expect(detail).toContain(new URL(issuer.url).host);
    issuer.overrides.clear();
    app.clock.advance(5_000);
    const steps: [string, Rejection][] = [
      ["/token", later],
      ["/jwks", unavailable],
    ];
    for (const [path, rejection] of steps) {
      const attempt = await begun();
      issuer.overrides.set(path, answer);
      await expectRejected(await finish(attempt), ...rejection);
      issuer.overrides.clear();
    }
  });

  test.each([
    ["token_endpoint", "http://evil.example/token"],
    ["jwks_uri", "http://10.0.0.1/jwks"],
    ["authorization_endpoint", "http://evil.example/authorize"],
    ["authorization_endpoint", "javascript:alert(1)"],
    ["token_endpoint", "https://me:hush@evil.example/token"],
    ["token_endpoint", "/token"],
    ["token_endpoint", null],
    ["issuer", "https://evil.example"],
  ])("whose metadata has %s=%p gets neither code nor secret", async (name, value) => {
    const { url } = issuer;
    const usual = {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
    };
    issuer.overrides.set(metadataPath, () => Response.json({ ...usual, [name]: value }));
    await expectRejected(await app.fetch(startPath), 503, "unavailable");
    expect(issuer.requests).toEqual([metadataPath]);
  });

  test("is asked once by simultaneous sign-ins, and again after five seconds", async () => {
    issuer.overrides.set(metadataPath, () => new Response("down", { status: 500 }));
    const all = await Promise.all(Array.from({ length: 20 }, () => app.fetch(startPath)));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([503]));
    expect((await app.fetch(startPath)).status).toBe(503);
    expect(issuer.requests).toEqual([metadataPath]);
    issuer.overrides.clear();
    app.clock.advance(5_000);
    expect((await app.fetch(startPath)).status).toBe(302);
  });

  const endless = () =>
    new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(" ")) }),
      { headers: asJson },
    );
  test.each<readonly [string, () => Response | Promise<Response>]>([
    ["does not answer", () => new Promise<Response>(() => {})],
    ["does not end its answer", endless],
  ])("that %s is given up after five seconds", async (_, answer) => {
    issuer.overrides.set(metadataPath, answer);
    const started = app.fetch(startPath);
    await until(() => issuer.requests.length === 1);
    app.clock.advance(5_000);
    await expectRejected(await started, 503, "unavailable");
  });

  test("that is down, or rejects the client, leads to a page that says so", async () => {
    const attempt = await begun();
    issuer.overrides.set("/token", () =>
      Response.json({ error: "invalid_client" }, { status: 401 }),
    );
    const rejected = await finish(attempt, { accept: "text/html" });
    expect(rejected.status).toBe(503);
    expect(await rejected.text()).toContain("Check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET");
    await issuer.stop();
    app.clock.advance(600_000);
    const down = await app.fetch(startPath, { headers: { accept: "text/html" } });
    expect(down.status).toBe(503);
    expect(await down.text()).toContain("is not available");
  });
});

test("without OIDC_ISSUER sign-in by OpenID Connect is not found, and the console shows no button", async () => {
  const plain = await startApp();
  for (const path of [startPath, "/console/oidc/callback?code=x&state=y"]) {
    expect((await plain.fetch(path)).status).toBe(404);
  }
  expect(await (await plain.fetch("/console")).text()).not.toContain("data-issuer");
  await plain.stop();
  const { host } = new URL(issuer.url);
  expect(await (await app.fetch("/console")).text()).toContain(`data-issuer="${host}"`);
});

test("an issuer with endpoints on another host signs in, and gets the code there", async () => {
  await using split = await startIssuer(() => app.clock.now(), "127.0.0.1", { split: true });
  await using there = await startApp(issuerSettings(split, publicUrl), app.clock);
  const attempt = await begun("", there, split);
  expect((await finish(attempt, {}, there)).status).toBe(302);
  expect(split.requests.map((each) => each.replace(/:\d+/, ""))).toEqual([
    "/.well-known/openid-configuration",
    "/authorize",
    "http://localhost/token",
    "http://localhost/jwks",
  ]);
});

describe.skipIf(skips(noManyConnections))("instances on one database", () => {
  test("end a sign-in that another one began, once", async () => {
    await using database = await postgresDatabase();
    const settings = { ...issuerSettings(issuer, publicUrl), DATABASE_URL: database.url };
    await using first = await startApp(settings, app.clock);
    await using second = await startApp(settings, app.clock);
    const attempt = await begun("", first);
    const all = await Promise.all([first, second].map((each) => finish(attempt, {}, each)));
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([302, 401]);
    await expectRejected(await finish(attempt, {}, first), 401, "invalid-token");
    const opened = all.find(({ status }) => status === 302);
    const headers = { cookie: opened === undefined ? "" : cookiesOf(opened) };
    for (const each of [first, second]) {
      expect((await each.fetch("/v1/auth/session", { headers })).status).toBe(200);
    }
  });
});
