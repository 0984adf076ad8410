import { beforeEach, describe, expect, test } from "bun:test";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { json } from "../support/app.ts";
import { post } from "../support/flights.ts";
import type { TestGateway } from "../support/gateway.ts";
import { resources } from "../support/resources.ts";
import { appPerTest } from "../support/running-app.ts";

const taken = resources();
const app = appPerTest();
const claims = () => {
  const now = Math.floor(app.clock.now() / 1_000);
  return {
    iss: "skyhook",
    aud: "skyhook",
    sub: "mallory",
    jti: "j",
    iat: now,
    exp: now + 60,
    roles: ["admin"],
  };
};
const ask = (token: string) =>
  app.fetch("/v1/events", { headers: { authorization: `Bearer ${token}` } });

describe("a token with its own key", () => {
  let evil: TestGateway;
  let idp: TestGateway;
  let mallory: CryptoKeyPair;
  beforeEach(async () => {
    mallory = await generateKeyPair("ES256", { extractable: true });
    const keys = { keys: [{ ...(await exportJWK(mallory.publicKey)), kid: "k", alg: "ES256" }] };
    evil = taken.gateway(() => Response.json(keys));
    const honest = await generateKeyPair("ES256", { extractable: true });
    const published = { ...(await exportJWK(honest.publicKey)), kid: "k", alg: "ES256" };
    idp = taken.gateway(() => Response.json({ keys: [published] }));
  });

  const headers = async () => [
    { jku: evil.url },
    { x5u: evil.url },
    { jwk: await exportJWK(mallory.publicKey) },
    { kid: evil.url },
    { kid: "../../../../dev/null" },
    { kid: "k' or '1'='1" },
    { kid: "k" },
  ];

  test.each(["own keys", "an identity provider"])(
    "is rejected with %s, and its key URLs are not fetched [API2-4]",
    async (mode) => {
      await app.restart(mode === "own keys" ? {} : { JWKS_URL: idp.url });
      for (const header of await headers()) {
        const token = await new SignJWT(claims())
          .setProtectedHeader({ alg: "ES256", typ: "at+jwt", ...header })
          .sign(mallory.privateKey);
        const answer = await ask(token);
        expect([answer.status, (await json(answer))["code"]]).toEqual([401, "invalid-token"]);
      }
      expect(evil.received).toEqual([]);
    },
  );

  test("is rejected if signed with an empty key, as for the kid /dev/null [API2-5]", async () => {
    const parts = [{ alg: "HS256", typ: "at+jwt", kid: "/dev/null" }, claims()];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
    const signed = text.join(".");
    for (const key of ["", "\0", "null"]) {
      const mac = new Bun.CryptoHasher("sha256", key).update(signed).digest("base64url");
      expect((await ask(`${signed}.${mac}`)).status).toBe(401);
    }
    for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
      const head = Buffer.from(JSON.stringify({ alg, typ: "at+jwt" })).toString("base64url");
      expect((await ask(`${head}.${text[1]}.`)).status).toBe(401);
    }
  });

  test("does not make the server follow redirects of the identity provider [API7-2]", async () => {
    const moved = taken.gateway(() => Response.redirect(evil.url, 302));
    await app.restart({ JWKS_URL: moved.url });
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "k" })
      .sign(mallory.privateKey);
    expect((await ask(token)).status).toBe(503);
    expect(moved.received).toHaveLength(1);
    expect(evil.received).toEqual([]);
  });
});

describe("guessing", () => {
  test("a client secret from many forged addresses counts as one address [API2-8]", async () => {
    const { client } = await app.services.clients.add("a client", ["admin"]);
    const statuses = [];
    for (let tries = 0; tries < 22; tries += 1) {
      const address = `203.0.113.${tries}`;
      const headers = {
        "x-forwarded-for": address,
        "x-real-ip": address,
        "cf-connecting-ip": address,
        forwarded: `for=${address}`,
      };
      const body = {
        grant_type: "client_credentials",
        client_id: client.id,
        client_secret: `guess ${tries}`,
      };
      statuses.push((await app.fetch("/v1/auth/token", post(body, headers))).status);
    }
    expect(statuses).toEqual([...Array<number>(20).fill(401), 429, 429]);
  });

  test("a role in a token request has no effect: the token has the roles of the client [API5-7]", async () => {
    const { client, secret } = await app.services.clients.add("a client", ["user"]);
    const body = {
      grant_type: "client_credentials",
      client_id: client.id,
      client_secret: secret,
      scope: "admin",
      roles: ["admin"],
      role: "admin",
      sub: "victim",
    };
    const { access_token: token } = await json(await app.fetch("/v1/auth/token", post(body)));
    expect((await ask(String(token))).status).toBe(403);
  });
});

test("URLs in a delivery are never fetched [API7-1]", async () => {
  const internal = taken.gateway(() => new Response("secret"));
  const { url } = internal;
  const run = { name: "x", conclusion: "failure", html_url: url, url, logs_url: url };
  const body = {
    action: "completed",
    callback_url: url,
    workflow_run: run,
    repository: { full_name: "a/b", html_url: url, hooks_url: url },
    sender: { login: "x", avatar_url: url },
  };
  const headers = { "x-codehost-event": "workflow_run" };
  const made = await json(await app.deliver("code_host", JSON.stringify(body), { headers }));
  expect(made["status"]).toBe("accepted");
  const replayed = await app.as("operator", `/v1/events/${String(made["id"])}/replay`, {
    method: "POST",
  });
  expect(replayed.status).toBeLessThan(300);
  app.clock.advance(60_000);
  await Bun.sleep(0);
  expect(internal.received).toEqual([]);
});
