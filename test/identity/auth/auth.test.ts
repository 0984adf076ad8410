import { beforeEach, describe, expect, test } from "bun:test";

import { decodeJwt, decodeProtectedHeader } from "jose";

import { json } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { expectLimited } from "../../support/limited.ts";
import { appPerTest } from "../../support/running-app.ts";

const path = "/v1/auth/token";
const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  body: new URLSearchParams(fields).toString(),
});
const grant = { grant_type: "client_credentials" };
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

let id: string;
let secret: string;
const app = appPerTest();
beforeEach(async () => {
  const made = await app.services.clients.add("a client", ["operator"]);
  id = made.client.id;
  secret = made.secret;
});

describe("POST /v1/auth/token", () => {
  const empty = { client_id: "", client_secret: "" };
  const requests: [string, () => RequestInit][] = [
    ["a form", () => form({ ...grant, client_id: id, client_secret: secret })],
    ["JSON", () => post({ ...grant, client_id: id, client_secret: secret })],
    ["HTTP Basic and a form", () => form(grant, basic(id, secret))],
    ["HTTP Basic and empty parameters", () => form({ ...grant, ...empty }, basic(id, secret))],
    ["HTTP Basic and JSON", () => post(grant, basic(id, secret))],
  ];

  test.each(requests)("answers %s with a token that works until it expires", async (_, init) => {
    const response = await app.fetch(path, init());
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const answer = await json(response);
    expect(answer).toEqual({
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 3_600,
    });
    const token = String(answer["access_token"]);
    expect(decodeProtectedHeader(token)).toEqual({ alg: "HS256", typ: "at+jwt" });
    expect(decodeJwt(token)).toMatchObject({
      sub: id,
      roles: ["operator"],
      iss: "skyhook",
      aud: "skyhook",
    });
    const headers = { authorization: `Bearer ${token}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(200);
    app.clock.advance(3_632_000);
    expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
  });

  test("grants each client its own roles, for its own secret only", async () => {
    const other = await app.services.clients.add("another", ["user"]);
    const response = await app.fetch(path, form(grant, basic(other.client.id, other.secret)));
    const { access_token: token } = await json(response);
    const headers = { authorization: `Bearer ${String(token)}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(403);
    expect((await app.fetch(path, form(grant, basic(other.client.id, secret)))).status).toBe(401);
  });
});

describe("POST /v1/auth/token rejects", () => {
  test("a wrong secret in HTTP Basic with a Basic challenge (RFC 6749 section 5.2)", async () => {
    const response = await app.fetch(path, form(grant, basic(id, "wrong")));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer, Basic realm="skyhook"');
  });

  test.each(["Basic", "BASIC ", "Basic !!!", "basic YTpi YTpi"])(
    "the malformed header %p with a Basic challenge",
    async (authorization) => {
      const response = await app.fetch(path, form(grant, { authorization }));
      expect(await json(response)).toMatchObject({ error: "invalid_client" });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer, Basic realm="skyhook"');
    },
  );

  test("a wrong secret and an unknown client with the same response [API2-6]", async () => {
    const ask = async (client: string, attempt: string) => {
      const headers = { "x-request-id": "same" };
      const response = await app.fetch(
        path,
        form({ ...grant, client_id: client, client_secret: attempt }, headers),
      );
      expect(response.status).toBe(401);
      return [await response.text(), ...response.headers].join();
    };
    const answer = await ask(id, "wrong");
    expect(answer).toContain("invalid_client");
    for (const client of [`cli_${"0".repeat(32)}`, "nobody", "\u0000", "x".repeat(5_000), "🦊"]) {
      expect(await ask(client, secret)).toBe(answer);
    }
    expect(await ask(id, `${secret} `)).toBe(answer);
  });

  const text = { method: "POST", body: "x", headers: { "content-type": "text/plain" } };
  /** A grant in the body, with other members or other text. */
  const asForm = (fields: Record<string, string>) => () =>
    form({ ...grant, client_id: id, client_secret: secret, ...fields });
  const asJson = (members: string) => () =>
    post(`{"grant_type":"client_credentials","client_secret":"${secret}",${members}}`);
  const repeated = () => `${new URLSearchParams(grant).toString()}&client_id=x&client_id=${id}`;

  test.each<[string, () => RequestInit, (string | null)?, number?]>([
    ["another grant", asForm({ grant_type: "password" }), "unsupported_grant_type"],
    ["no grant", () => form({ client_id: id, client_secret: secret })],
    ["an empty secret", asForm({ client_secret: "" })],
    ["an empty grant", () => form({ grant_type: "", client_id: id })],
    ["no client", () => form(grant)],
    ["no secret", () => form({ ...grant, client_id: id })],
    [
      "JSON values of the wrong types",
      () => post({ ...grant, client_id: 7, client_secret: [secret] }),
    ],
    [
      "a repeated parameter",
      () => ({ ...form({}), body: `${repeated()}&client_secret=${secret}` }),
    ],
    ["a repeated member", () => asJson(`"client_id":"x","client_id":"${id}"`)()],
    [
      "a repeated member of which one is no text",
      () => asJson(`"client_id":"${id}","client_id":7`)(),
    ],
    [
      "a secret in the header and in the body",
      () => form({ ...grant, client_secret: secret }, basic(id, secret)),
    ],
    [
      "another client in the header than in the body",
      () => form({ ...grant, client_id: "x" }, basic(id, secret)),
    ],
    ["invalid JSON", () => post("{")],
    ["JSON that is not an object", () => post("[]")],
    ["null", () => post("null")],
    ["a plain text body", () => text, null, 415],
    ["a body that is too large", asForm({ client_id: "x".repeat(20_000) }), null, 413],
  ])("%s", async (_, init, oauth = "invalid_request", status = 400) => {
    const response = await app.fetch(path, init());
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect((await json(response))["error"]).toBe(oauth ?? undefined);
  });

  test.each([
    ["the grant", {}, ["/grant_type"]],
    ["the client and its secret", grant, ["/client_id", "/client_secret"]],
    ["the secret", { ...grant, client_id: "cli_1" }, ["/client_secret"]],
  ])("a request without %s, naming each field", async (_, fields, pointers) => {
    for (const init of [form(fields), post(fields)]) {
      const { errors } = await json(await app.fetch(path, init));
      expect(errors).toMatchObject(pointers.map((pointer) => ({ pointer })));
      expect(errors).toHaveLength(pointers.length);
    }
  });
});

describe("the limiter of failed attempts", () => {
  const wrong = () => app.fetch(path, form(grant, basic(id, "wrong")));
  const right = () => app.fetch(path, form(grant, basic(id, secret)));

  test("blocks an address after 20 failures until the minute has passed", async () => {
    for (let tries = 0; tries < 20; tries += 1) expect((await wrong()).status).toBe(401);
    app.clock.advance(20_000);
    for (const response of [await wrong(), await right()]) {
      await expectLimited(response, '"auth-failures";q=20;w=60', 40, "too-many-auth-failures");
    }
    app.clock.advance(40_000);
    expect((await right()).status).toBe(200);
  });

  test("allows no more failures when all attempts are concurrent [API2-7]", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, wrong));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  test("shares its count with failed webhook signatures", async () => {
    for (let tries = 0; tries < 20; tries += 1) await wrong();
    expect((await app.deliver("code_host", "{}")).status).toBe(429);
  });

  test("does not count malformed requests, successes or invalid bearer tokens", async () => {
    for (let tries = 0; tries < 25; tries += 1) {
      expect((await app.fetch(path, form(grant))).status).toBe(400);
      expect((await right()).status).toBe(200);
      const headers = { authorization: "Bearer nonsense" };
      expect((await app.fetch("/v1/users", { headers })).status).toBe(401);
    }
    expect((await wrong()).status).toBe(401);
  });
});

describe("Authorization", () => {
  test.each([
    [undefined, "authentication-required", "Bearer"],
    ["", "authentication-required", "Bearer"],
    ["Bearer", "invalid-token", 'Bearer error="invalid_token"'],
    ["Bearer a b", "invalid-token", 'Bearer error="invalid_token"'],
    ["Bearer a, Bearer b", "invalid-token", 'Bearer error="invalid_token"'],
    ["Basic YTpi", "authentication-required", "Bearer"],
    ["Token x", "authentication-required", "Bearer"],
    [`Bearer ${"x".repeat(5_000)}`, "invalid-token", 'Bearer error="invalid_token"'],
  ])("%j is 401", async (authorization, code, challenge) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await app.fetch("/v1/users", { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe(challenge);
    expect(await json(response)).toMatchObject({ code });
  });

  test("accepts the scheme in any case", async () => {
    const token = await app.services.tokens.mint({ id: "u", roles: [] }, 60);
    for (const scheme of ["bearer", "BEARER", "Bearer"]) {
      const headers = { authorization: `${scheme} ${token}` };
      expect((await app.fetch("/v1/users", { headers })).status).toBe(200);
    }
  });
});
