import { describe, expect, test } from "bun:test";

import { mintConsoleCode } from "../../../src/identity/auth/console-codes.ts";
import { json, jsonWith, startApp, type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { postQuery } from "../../support/graphql.ts";
import { listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const issuing = {
  key: Buffer.from("a test key of thirty-two bytes!!"),
  issuer: "skyhook",
  audience: "skyhook",
};
/** What the console sends, in a browser that says where a request comes from. */
const own = { "x-skyhook-console": "1", "sec-fetch-site": "same-origin" };
const hourMs = 3_600_000;

const clock = manualClock();
const app = appForAll({}, clock);

const codeFor = (role: "user" | "operator" | "admin") => mintConsoleCode(issuing, role, clock);

function signIn(code: string, headers: Record<string, string> = {}, target: TestApp = app) {
  return target.fetch("/v1/auth/session", post({ code }, { ...own, ...headers }));
}

/** `name=value` of the cookie that a response stores. */
function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function signedIn(role: "operator" | "admin" = "operator"): Promise<string> {
  return cookieOf(await signIn(await codeFor(role)));
}

const get = (path: string, cookie: string) => app.fetch(path, { headers: { cookie } });
const postTo = (path: string, cookie: string, headers: Record<string, string>) =>
  app.fetch(path, { method: "POST", headers: { cookie, ...headers } });

describe("a session of the console", () => {
  test("a short code of this process signs in once, until it expires", async () => {
    const { consoleCodes } = app.services;
    const code = consoleCodes.issue("operator", 60);
    expect(code).toMatch(/^[\w-]{22}$/);
    expect((await signIn(code)).status).toBe(200);
    expect((await signIn(code)).status).toBe(401);
    const late = consoleCodes.issue("operator", 60);
    clock.advance(61_000);
    expect((await signIn(late)).status).toBe(401);
    expect((await signIn("A".repeat(22))).status).toBe(401);
  });

  test("has the name that is given with a code, and the role, and never that of another kind of actor", async () => {
    const given = async (name: unknown, madeFor: string | null = null) => {
      const code = await mintConsoleCode(issuing, "operator", clock, madeFor);
      const session = await json(await app.fetch("/v1/auth/session", post({ code, name }, own)));
      return session["actor"] ?? session["errors"];
    };
    const refused = [{ pointer: "/name" }];
    for (const [name, actor] of [
      [" Ada ", "console:operator:Ada"],
      ["Ada \u00a0 Lovelace", "console:operator:Ada Lovelace"],
      ["Zoe\u0308", "console:operator:Zo\u00eb"],
      [null, "skyhook-console"],
      ["console:Ada", "console:operator:console:Ada"],
      ["oidc:ada", "console:operator:oidc:ada"],
      ["cli:root", "console:operator:cli:root"],
      ["x".repeat(60), `console:operator:${"x".repeat(60)}`],
      ["x".repeat(61), refused],
      ["", refused],
      [" \u200b", refused],
      ["A\u200bda", refused],
      ["A\u034fda", refused],
      ["A\u3164da", refused],
      ["A\u{e0101}da", refused],
      ["Ada\u202e", refused],
      ["A\nda", refused],
      [7, refused],
    ] as const) {
      expect([name, await given(name)]).toMatchObject([name, actor]);
    }
    expect(await given("Eve", "Ada")).toBe("console:Ada");
  });

  test("of an operator who takes an admin's name reads nothing that is the admin's", async () => {
    const signedInAs = async (role: "operator" | "admin") => {
      const code = await mintConsoleCode(issuing, role, clock);
      return cookieOf(await app.fetch("/v1/auth/session", post({ code, name: "Ada" }, own)));
    };
    const [admin, operator] = [await signedInAs("admin"), await signedInAs("operator")];
    const { id } = await addFlight(app);
    const booked = await app.fetch(
      "/v1/api/bookings",
      post(bookingBody(id), { ...own, cookie: admin }),
    );
    const { bookingId } = await json(booked);
    const path = `/v1/api/bookings/${String(bookingId)}`;
    expect((await get(path, admin)).status).toBe(200);
    expect((await get(path, operator)).status).toBe(404);
  });

  test("can get a name once, in a new session that ends when it would have", async () => {
    const first = await signIn(await codeFor("admin"));
    const { id, expiresAt } = await json(first);
    clock.advance(60_000);
    const name = (called: string, cookie: string) =>
      app.fetch("/v1/auth/session", post({ name: called }, { ...own, cookie }));
    const second = await name("Ada", cookieOf(first));
    const named = await json(second);
    expect(named).toMatchObject({ actor: "console:admin:Ada", roles: ["admin"], expiresAt });
    expect((await get("/v1/events", cookieOf(first))).status).toBe(401);
    const list = await listed(app, "/v1/audit?limit=3", "admin");
    expect(list.map(({ action, actor, subject }) => [action, actor, subject])).toEqual([
      ["session.opened", "console:admin:Ada", named["id"]],
      ["session.closed", "skyhook-console", id],
      ["session.opened", "skyhook-console", id],
    ]);
    expect(await json(await name("Eve", cookieOf(second)))).toMatchObject({
      actor: "console:admin:Ada",
    });
    expect((await name("Ada", "")).status).toBe(401);
    expect((await app.fetch("/v1/auth/session", post({ name: "Ada" }))).status).toBe(403);
  });

  test("is opened by a one-time code, once [API2-11]", async () => {
    const code = await codeFor("operator");
    const first = await signIn(code);
    expect(first.status).toBe(200);
    expect(first.headers.get("cache-control")).toBe("no-store");
    const session = await json(first);
    expect(session).toMatchObject({ actor: "skyhook-console", roles: ["operator"] });
    const cookie = cookieOf(first);
    expect((await get("/v1/events", cookie)).status).toBe(200);
    // Operators end tokens for agents by id; unnamed operators are one actor.
    const path = `/v1/sessions/${String(session["id"])}`;
    const headers = { ...own, cookie };
    expect((await app.fetch(path, { method: "DELETE", headers })).status).toBe(404);
    expect(await json(await get("/v1/auth/session", cookie))).toMatchObject({
      roles: ["operator"],
    });
    const stolen = await signIn(code);
    expect(stolen.status).toBe(401);
    expect(stolen.headers.get("set-cookie")).toBeNull();
  });

  test("is in a cookie that scripts and other sites cannot use", async () => {
    const plain = (await signIn(await codeFor("operator"))).headers.get("set-cookie") ?? "";
    expect(plain).toMatch(/^skyhook=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    await using secure = await startApp({ PUBLIC_URL: "https://hooks.example.com" }, clock);
    const response = await signIn(await codeFor("operator"), {}, secure);
    expect(response.headers.get("set-cookie")).toMatch(
      /^__Host-skyhook=[\w-]{43}; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict$/,
    );
    // Over HTTPS, a cookie without the prefix may have been set by a subdomain.
    const tossed = cookieOf(response).replace("__Host-", "");
    const headers = { cookie: tossed };
    expect((await secure.fetch("/v1/events", { headers })).status).toBe(401);
  });

  test("is secure behind a proxy that ends TLS", async () => {
    const proxied = await startApp({ TRUSTED_PROXY_HOPS: "1" }, clock);
    const forwarded = { "x-forwarded-proto": "https" };
    // A chain of proxies adds an entry for each; the first is that of the browser.
    for (const scheme of ["https", "https, http", "https,https,http", "HTTPS", " https "]) {
      const headers = { "x-forwarded-proto": scheme };
      const response = await signIn(await codeFor("operator"), headers, proxied);
      expect(response.headers.get("set-cookie")).toStartWith("__Host-skyhook=");
    }
    for (const scheme of ["http", "http, https", "", ",https", "httpsx"]) {
      const headers = { "x-forwarded-proto": scheme };
      const response = await signIn(await codeFor("operator"), headers, proxied);
      expect(response.headers.get("set-cookie")).toStartWith("skyhook=");
    }
    await proxied.stop();
    // Without a trusted proxy the client could have set the header.
    const direct = await signIn(await codeFor("operator"), forwarded);
    expect(direct.headers.get("set-cookie")).toStartWith("skyhook=");
  });

  test("gets a new cookie at each sign-in, and the former one ends [API2-12]", async () => {
    const planted = `skyhook=${"a".repeat(43)}`;
    const first = cookieOf(await signIn(await codeFor("operator"), { cookie: planted }));
    expect(first).not.toBe(planted);
    expect((await get("/v1/events", planted)).status).toBe(401);
    const second = cookieOf(await signIn(await codeFor("operator"), { cookie: first }));
    expect(second).not.toBe(first);
    expect((await get("/v1/events", first)).status).toBe(401);
    expect((await get("/v1/events", second)).status).toBe(200);
  });

  test("that a sign-in replaces is recorded as closed, once", async () => {
    const first = await signedIn();
    const { id } = await json(await get("/v1/auth/session", first));
    const token = await app.services.tokens.mint({ id: "grace", roles: ["admin"] }, 3_600);
    const headers = { ...own, cookie: first, authorization: `Bearer ${token}` };
    const next = await json(await app.fetch("/v1/auth/session", { method: "POST", headers }));
    const last = await json(await app.fetch("/v1/auth/session", { method: "POST", headers }));
    const entries = await listed(app, "/v1/audit", "admin");
    const fields = entries
      .slice(0, 4)
      .map(({ action, actor, subject, detail }) => [action, actor, subject, detail]);
    // The second sign-in with the same cookie found no session to replace.
    expect(fields).toEqual([
      ["session.opened", "grace", last["id"], "unknown"],
      ["session.opened", "grace", next["id"], "unknown"],
      ["session.closed", "skyhook-console", id, `replaced by ${String(next["id"])}`],
      ["session.opened", "skyhook-console", id, "unknown"],
    ]);
    expect((await get("/v1/events", first)).status).toBe(401);
  });

  test("ends after twelve hours, and with the token that opened it", async () => {
    const cookie = await signedIn();
    const token = await app.services.tokens.mint({ id: "ada", roles: ["operator"] }, 3_600);
    const headers = { ...own, authorization: `Bearer ${token}` };
    const byToken = await app.fetch("/v1/auth/session", { method: "POST", headers });
    expect(await json(byToken)).toMatchObject({ actor: "ada", roles: ["operator"] });
    clock.advance(hourMs + 31_000);
    expect((await get("/v1/events", cookieOf(byToken))).status).toBe(401);
    clock.advance(11 * hourMs - 31_001);
    expect((await get("/v1/events", cookie)).status).toBe(200);
    clock.advance(1);
    const expired = await get("/v1/events", cookie);
    expect(await jsonWith(expired, 401)).toMatchObject({ code: "invalid-token" });
  });

  test("is not opened for the role user, nor without a valid code or token", async () => {
    const user = await signIn(await codeFor("user"));
    expect([user.status, user.headers.get("set-cookie")]).toEqual([403, null]);
    for (const code of ["", "x", "a.b.c", "x".repeat(5_000)]) {
      expect((await signIn(code)).status).toBe(401);
    }
    const headers = { ...own, authorization: "Bearer nonsense" };
    expect((await app.fetch("/v1/auth/session", { method: "POST", headers })).status).toBe(401);
    const noJson = { method: "POST", headers: own, body: "code=1" };
    expect((await app.fetch("/v1/auth/session", noJson)).status).toBe(415);
  });

  test("is not opened by a cookie that was never issued", async () => {
    for (const value of ["", "x", "a".repeat(43), "é", "a".repeat(5_000), "../../x"]) {
      expect((await get("/v1/events", `skyhook=${value}`)).status).toBe(401);
    }
    // No database stores the cookie itself.
    const cookie = await signedIn();
    const [session] = await listed(app, "/v1/sessions", "admin");
    expect(JSON.stringify(session)).not.toContain(cookie.slice(8));
    expect(session).not.toHaveProperty("hash");
  });

  test("gives way to a token in the same request", async () => {
    const cookie = await signedIn("admin");
    expect((await app.as("user", "/v1/events", { headers: { cookie } })).status).toBe(403);
  });

  test("that ends twice at the same time is recorded as closed once", async () => {
    const cookie = await signedIn();
    const { id } = await json(await get("/v1/auth/session", cookie));
    const headers = { cookie, ...own };
    const init = { method: "DELETE", headers };
    await Promise.all([1, 2, 3].map(() => app.fetch("/v1/auth/session", init)));
    const ended = await listed(app, `/v1/audit?subject=${String(id)}`, "admin");
    expect(ended.map(({ action }) => action)).toEqual(["session.closed", "session.opened"]);
  });

  test("ends when there are more than 200 of its operator, also if many begin at once", async () => {
    const init = { method: "POST", headers: own };
    const signIn = () => app.as("operator", "/v1/auth/session", init, "many scripts");
    for (let count = 0; count < 199; count += 1) await signIn();
    await Promise.all(Array.from({ length: 12 }, signIn));
    const query = "/v1/audit?action=session.closed&actor=many%20scripts";
    const ended = await listed(app, query, "admin");
    expect(ended).toHaveLength(199 + 12 - 200);
  });

  test("ends when its operator has signed in too often since", async () => {
    const other = await signedIn();
    const signInAs = async (bearer: string) => {
      const init = { method: "POST", headers: own };
      return cookieOf(await app.as("operator", "/v1/auth/session", init, bearer));
    };
    const cookies: string[] = [];
    for (let count = 1; count <= 201; count += 1) {
      cookies.push(await signInAs("a script"));
      clock.advance(1);
    }
    const statuses = await Promise.all(
      [other, cookies[0], cookies[1], cookies[200]].map(async (cookie = "") => {
        return (await get("/v1/auth/session", cookie)).status;
      }),
    );
    expect(statuses).toEqual([200, 401, 200, 200]);
    const ended = await listed(app, "/v1/audit?action=session.closed&actor=a%20script", "admin");
    expect(ended).toMatchObject([{ detail: "too many sessions" }]);
  });
});

describe("a request from another site", () => {
  const foreign: readonly (readonly [string, Record<string, string>])[] = [
    ["a form of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a subdomain", { "x-skyhook-console": "1", "sec-fetch-site": "same-site" }],
    ["a form in an old browser", { origin: "https://evil.example" }],
    ["an opaque origin", { "x-skyhook-console": "1", origin: "null" }],
    ["an address bar", { "x-skyhook-console": "1", "sec-fetch-site": "none" }],
    ["the same host without the console's header", { "sec-fetch-site": "same-origin" }],
    [
      "another port",
      { "x-skyhook-console": "1", host: "localhost:80", origin: "http://localhost:8080" },
    ],
    ["a program with the cookie alone", {}],
  ];

  test.each(foreign)("changes nothing with the cookie: %s [API2-14]", async (_, headers) => {
    const cookie = await signedIn("admin");
    for (const path of ["/v1/events/evt_1/replay", "/v1/issues/iss_1/retry"]) {
      const response = await postTo(path, cookie, headers);
      expect(await jsonWith(response, 403)).toMatchObject({ code: "cross-site-request" });
    }
    const query = 'mutation { cancelBooking(bookingId: "bk_1") { status } }';
    const graphql = await app.fetch("/graphql", post({ query }, { cookie, ...headers }));
    expect(await graphql.text()).toContain("cross-site-request");
    const logout = await app.fetch("/v1/auth/session", {
      method: "DELETE",
      headers: { cookie, ...headers },
    });
    expect(logout.status).toBe(403);
    expect((await get("/v1/auth/session", cookie)).status).toBe(200);
  });

  test.each(foreign)(
    "does not sign a browser in as somebody else: %s [API2-15]",
    async (_, headers) => {
      const code = await codeFor("operator");
      const response = await app.fetch("/v1/auth/session", post({ code }, { ...headers }));
      expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
    },
  );

  test("is told apart from one of the console", async () => {
    const cookie = await signedIn();
    const consoles: Record<string, string>[] = [
      own,
      { "x-skyhook-console": "1" },
      { "x-skyhook-console": "1", host: "localhost:3111", origin: "http://localhost:3111" },
    ];
    for (const headers of consoles) {
      expect((await postTo("/v1/events/evt_1/replay", cookie, headers)).status).toBe(404);
    }
  });

  test("never gets permission to send cookies or the console's header", async () => {
    await using open = await startApp({ CORS_ORIGINS: "https://partner.example" }, clock);
    const preflight = await open.fetch("/v1/events/evt_1/replay", {
      method: "OPTIONS",
      headers: {
        origin: "https://partner.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-skyhook-console",
      },
    });
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).not.toContain(
      "x-skyhook-console",
    );
  });
});

describe("ending a session", () => {
  test("signing out removes the cookie and ends the session on the server [API2-13]", async () => {
    const cookie = await signedIn();
    const headers = { ...own, cookie };
    const response = await app.fetch("/v1/auth/session", { method: "DELETE", headers });
    expect(await json(response)).toEqual({ ended: true });
    expect(response.headers.get("set-cookie")).toMatch(/^skyhook=; .*Max-Age=0/);
    expect((await get("/v1/events", cookie)).status).toBe(401);
    const again = await app.fetch("/v1/auth/session", { method: "DELETE", headers });
    expect(await json(again)).toEqual({ ended: false });
  });

  test("an admin lists the sessions and ends one, at once", async () => {
    const cookie = await signedIn();
    const other = await signedIn();
    const { id } = await json(await get("/v1/auth/session", cookie));
    const path = `/v1/sessions/${String(id)}`;
    expect((await listed(app, "/v1/sessions", "admin")).map((each) => each["id"])).toContain(id);
    expect(await listed(app, "/v1/sessions")).toEqual([]);
    expect((await app.as("operator", "/v1/sessions?kind=console")).status).toBe(403);
    expect((await app.as("operator", path, { method: "DELETE" })).status).toBe(404);
    expect(await json(await app.as("admin", path, { method: "DELETE" }))).toMatchObject({ id });
    expect((await get("/v1/events", cookie)).status).toBe(401);
    expect((await get("/v1/events", other)).status).toBe(200);
    for (const unknown of [path, "/v1/sessions/x"]) {
      expect((await app.as("admin", unknown, { method: "DELETE" })).status).toBe(404);
    }
  });

  const subscription = "subscription { seatsChanged(flightId: 1) { seatsAvailable } }";
  const streams: readonly (readonly [string, string, RequestInit])[] = [
    ["feed", "/v1/feed", {}],
    ["stream of webhooks", "/v1/events/feed?include=body", {}],
    ["subscription", "/graphql", postQuery(subscription)],
  ];
  test.each(streams)("ends its %s within a minute", async (_, path, init) => {
    await addFlight(app);
    const cookie = await signedIn();
    const headers = {
      ...own,
      cookie,
      accept: "text/event-stream",
      "content-type": "application/json",
    };
    const open = () => app.fetch(path, { ...init, headers });
    const response = await open();
    expect(response.status).toBe(200);
    const { id } = await json(await get("/v1/auth/session", cookie));
    await app.as("admin", `/v1/sessions/${String(id)}`, { method: "DELETE" });
    const reader = response.body?.getReader();
    let isDone = false;
    const drained = (async () => {
      while (!(await reader?.read())?.done);
      isDone = true;
    })();
    clock.advance(59_000);
    await Bun.sleep(20);
    expect(isDone).toBe(false);
    clock.advance(2_000);
    await drained;
    const again = await open();
    const text = await again.text();
    expect(`${again.status} ${text}`).toMatch(/"?invalid-token"?/);
  });

  test("stops no replay that it started: the server carries it out", async () => {
    await app.deliverSample("task_tracker", "task.completed");
    const cookie = await signedIn();
    const body = { from: "2020-01-01T00:00:00Z", ratePerSecond: 1 };
    const started = await app.fetch("/v1/replays", post(body, { ...own, cookie }));
    expect(started.status).toBe(201);
    const path = `/v1/replays/${String((await json(started))["id"])}`;
    await app.fetch("/v1/auth/session", { method: "DELETE", headers: { ...own, cookie } });
    expect((await get(path, cookie)).status).toBe(401);
    await until(async () => {
      clock.advance(100);
      return (await json(await app.as("operator", path)))["status"] === "finished";
    });
  });

  test("has the name that its link was made for, which is no user's id or address", async () => {
    const user = "019377b0-7d40-7000-8000-000000000001";
    for (const name of ["Ada", user, "ada@example.com", "skyhook-cli", "oidc:ada"]) {
      const code = await mintConsoleCode(issuing, "admin", clock, name);
      // Whoever uses the link cannot take another name.
      const request = post({ code, name: "Eve" }, own);
      const { actor, id } = await json(await app.fetch("/v1/auth/session", request));
      expect(actor).toBe(`console:${name}`);
      const [entry] = await listed(app, `/v1/audit?subject=${String(id)}`, "admin");
      expect(entry).toMatchObject({ actor, action: "session.opened" });
    }
  });
});
