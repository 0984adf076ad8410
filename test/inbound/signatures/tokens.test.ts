import { afterAll, describe, expect, test } from "bun:test";
import { KeyObject } from "node:crypto";

import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";

import { guardedFetch } from "../../../src/base/guarded-fetch.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { hostMatches, pathMatches } from "../../../src/inbound/signatures/hosts.ts";
import { keyStore, noKeys } from "../../../src/inbound/signatures/key-store.ts";
import type {
  BasicAuthScheme,
  JwtScheme,
  KeySource,
  SharedSecretScheme,
} from "../../../src/inbound/signatures/scheme.schema.ts";
import { verifier } from "../../../src/inbound/signatures/signature.ts";
import { manualClock } from "../../support/clock.ts";

const now = 1_763_716_364;
const bytes = Buffer.from('{"a":1}');
const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
const request = (headers: Record<string, string>, body: Uint8Array = bytes) => ({
  method: "POST",
  url: "",
  headers: new Headers(headers),
  bytes: body,
  receivedAtMs: now * 1_000,
});

async function outcome(result: ReturnType<ReturnType<typeof verifier>>): Promise<string> {
  const settled = await result;
  return "verified" in settled ? settled.verified.signedWith : settled.rejection;
}

/** Other text for the same bytes: the last character of 64 bytes in base64url has four unused bits. */
function nonCanonical(mac: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return mac.slice(0, -1) + (alphabet[alphabet.indexOf(mac.at(-1) ?? "") + 1] ?? "");
}

const fetchAnywhere = guardedFetch({
  allowsPrivate: true,
  resolve: () => Promise.reject(new Error("Nothing must be looked up")),
});

const plaid: JwtScheme = {
  kind: "jwt",
  from: "header.plaid-verification",
  algorithms: ["ES256"],
  toleranceSeconds: 300,
  bodyHash: { claim: "request_body_sha256", algorithm: "sha256", encoding: "hex" },
};

describe("tokens made by jose", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const secrets = { current: await exportSPKI(publicKey), previous: null };
  const verify = verifier(plaid, secrets);
  const token = (claims: Record<string, unknown>, iat: number | null = now, key = privateKey) => {
    const made = new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k1" });
    return (iat === null ? made : made.setIssuedAt(iat)).sign(key);
  };
  const sent = async (text: string) => outcome(verify(request({ "plaid-verification": text })));

  test("verify", async () => {
    expect(await sent(await token({ request_body_sha256: hash }))).toBe("current");
  });

  test("do not verify another body, time, key or form", async () => {
    const other = await generateKeyPair("ES256");
    const right = { request_body_sha256: hash };
    const made = await token(right);
    const [head = "", claims = "", mac = ""] = made.split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    const hs = Buffer.from('{"alg":"HS256"}').toString("base64url");
    const forged = new Bun.CryptoHasher("sha256", secrets.current)
      .update(`${hs}.${claims}`)
      .digest("base64url");
    const rows: readonly (readonly [string, string])[] = [
      [await token({ request_body_sha256: hash.toUpperCase() }), "wrong-signature"],
      [await token({}), "wrong-signature"],
      [await token(right, now - 301), "stale-timestamp"],
      [await token(right, now + 301), "stale-timestamp"],
      [await token(right, null), "missing-timestamp"],
      [await token({ ...right, exp: now - 3_600 }), "stale-timestamp"],
      [await token(right, now, other.privateKey), "wrong-signature"],
      [`${none}.${claims}.`, "malformed-signature"],
      [`${hs}.${claims}.${forged}`, "malformed-signature"],
      [`${head}.${claims}`, "malformed-signature"],
      [`${made}, ${made}`, "several-signatures"],
      ["", "missing-signature"],
      ["a.b.c", "malformed-signature"],
      [`${head}.${claims}.${mac.slice(0, -6)}`, "wrong-signature"],
      [`${made}=`, "malformed-signature"],
      [made.replaceAll(".", ". "), "malformed-signature"],
      [`${made}.`, "malformed-signature"],
      [`${head}.${claims}.${nonCanonical(mac)}`, "malformed-signature"],
    ];
    for (const [text, expected] of rows) expect([text, await sent(text)]).toEqual([text, expected]);
    expect(await outcome(verify(request({})))).toBe("missing-signature");
  });

  test("are not accepted more than 300 s ahead, whatever the scheme tolerates [API10-12]", async () => {
    const right = { request_body_sha256: hash };
    const { toleranceSeconds: _, ...timeless } = plaid;
    const patient = { ...plaid, toleranceSeconds: 86_400 };
    for (const [checked, claims, iat, expected] of [
      [patient, right, now - 86_400, "current"],
      [patient, right, now + 300, "current"],
      [patient, right, now + 301, "stale-timestamp"],
      [patient, { ...right, nbf: now + 300 }, now, "current"],
      [patient, { ...right, nbf: now + 301 }, now, "stale-timestamp"],
      [timeless, right, now + 300, "current"],
      [timeless, right, now + 301, "stale-timestamp"],
      [timeless, right, now - 1_000_000, "current"],
      [timeless, right, null, "current"],
    ] as const) {
      const sentToken = request({ "plaid-verification": await token(claims, iat) });
      expect(await outcome(verifier(checked, secrets)(sentToken))).toBe(expected);
    }
  });

  test("are identified by their signed text, whatever surrounds them", async () => {
    const inBody: JwtScheme = { kind: "jwt", from: "/token", algorithms: ["ES256"] };
    const check = verifier(inBody, secrets);
    const made = await token({ jti: "1" });
    const bodies = [JSON.stringify({ token: made }), JSON.stringify({ token: made, more: 1 })];
    const signed = await Promise.all(
      bodies.map(async (body) => {
        const result = await check(request({}, Buffer.from(body)));
        return "verified" in result ? Buffer.from(result.verified.signedBytes).toString() : null;
      }),
    );
    const text = made.split(".", 2).join(".");
    expect(signed).toEqual([text, text]);
  });

  const mail = "push@acme.iam.gserviceaccount.com";
  const right = {
    aud: "https://a.example/x?y=1",
    email: mail,
    email_verified: true,
    exp: now + 60,
  };
  test.each([
    [right, "current"],
    [{ ...right, exp: undefined }, "wrong-signature"],
    [{ ...right, exp: now - 61 }, "stale-timestamp"],
    [{ ...right, aud: "https://a.example/x" }, "wrong-signature"],
    [{ ...right, aud: undefined }, "wrong-signature"],
    [{ ...right, email: "push@other.iam.gserviceaccount.com" }, "wrong-signature"],
    [{ ...right, email: [mail] }, "wrong-signature"],
    [{ ...right, email: undefined }, "wrong-signature"],
    [{ ...right, email_verified: "true" }, "wrong-signature"],
  ])("outside the body with the claims %j are %s", async (claims, expected) => {
    const scheme: JwtScheme = {
      kind: "jwt",
      from: plaid.from,
      algorithms: ["ES256"],
      bodyHash: "none",
      audience: "{url}",
      claims: { email: "{secret}", email_verified: true },
      key: { url: "https://keys.example", format: "jwks" },
    };
    const keys = { confirm() {}, find: () => [{ key: KeyObject.from(publicKey), alg: null }] };
    const check = verifier(scheme, { current: mail, previous: null }, keys);
    const headers = { "plaid-verification": await token(claims) };
    for (const body of [bytes, Buffer.from("{}")]) {
      const result = await check({ ...request(headers, body), url: right.aud });
      expect(await outcome(result)).toBe(expected);
      // Other bodies come with the same token: each is another delivery.
      if ("verified" in result) expect(result.verified).toMatchObject({ signedBytes: body });
    }
  });

  const jwk = await exportJWK(publicKey);
  const served: { body: string; status: number; count: number } = {
    body: "",
    status: 200,
    count: 0,
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      served.count += 1;
      return new Response(served.body, { status: served.status });
    },
  });
  afterAll(() => server.stop(true));
  const fetching = (cacheMinutes = 60): JwtScheme => ({
    ...plaid,
    key: {
      url: server.url.href,
      format: "jwk",
      at: "/key",
      post: { key_id: "{kid}", secret: "{password}" },
      cacheMinutes,
    },
  });
  const account = { current: "client:secret", previous: null };

  test("verify with a key that is fetched once and kept for a while", async () => {
    const clock = manualClock(now * 1_000);
    Object.assign(served, { body: JSON.stringify({ key: jwk }), status: 200, count: 0 });
    const check = verifier(fetching(), account, keyStore(clock, fetchAnywhere));
    const text = await token({ request_body_sha256: hash });
    const both = [1, 2].map(() => outcome(check(request({ "plaid-verification": text }))));
    expect(await Promise.all(both)).toEqual(["current", "current"]);
    expect(await outcome(check(request({ "plaid-verification": text })))).toBe("current");
    expect(served.count).toBe(1);
    clock.advance(60 * 60_000);
    await outcome(check(request({ "plaid-verification": text })));
    expect(served.count).toBe(2);
  });

  test.each([
    ["a failure", "", 500],
    ["no JSON", "<html>", 200],
    ["more than 64 KiB", JSON.stringify({ key: jwk, more: "x".repeat(70_000) }), 200],
  ])("are not judged while the service answers with %s", async (_, body, status) => {
    Object.assign(served, { body, status, count: 0 });
    const check = verifier(fetching(), account, keyStore(manualClock(now * 1_000), fetchAnywhere));
    const text = await token({ request_body_sha256: hash });
    for (let times = 0; times < 3; times += 1) {
      const result = (async () => check(request({ "plaid-verification": text })))();
      expect(result).rejects.toMatchObject({ code: "unavailable" });
      await result.catch(() => null);
    }
    // A failure is not tried again at once.
    expect(served.count).toBe(1);
  });

  test.each([[{ a: 1 }], [1], [null], [["k1"]], ["k".repeat(257)]])(
    "are malformed with the key id %j",
    async (kid) => {
      Object.assign(served, { body: JSON.stringify({ key: jwk }), status: 200, count: 0 });
      const check = verifier(
        fetching(),
        account,
        keyStore(manualClock(now * 1_000), fetchAnywhere),
      );
      const [, ...rest] = (await token({ request_body_sha256: hash })).split(".");
      const head = Buffer.from(JSON.stringify({ alg: "ES256", kid })).toString("base64url");
      const text = [head, ...rest].join(".");
      expect(await outcome(check(request({ "plaid-verification": text })))).toBe(
        "malformed-signature",
      );
      expect(served.count).toBe(0);
    },
  );

  test("do not verify with a published key of another kind", async () => {
    const other = await generateKeyPair("RS256", { extractable: true });
    const body = JSON.stringify({ key: await exportJWK(other.publicKey) });
    Object.assign(served, { body, status: 200, count: 0 });
    const check = verifier(fetching(), account, keyStore(manualClock(now * 1_000), fetchAnywhere));
    const text = await token({ request_body_sha256: hash });
    expect(await outcome(check(request({ "plaid-verification": text })))).toBe("untrusted-key");
  });

  test("cause a bounded number of fetches, whatever keys they name", async () => {
    Object.assign(served, { body: JSON.stringify({ key: jwk }), status: 200, count: 0 });
    const keys = keyStore(manualClock(now * 1_000), fetchAnywhere);
    const { key } = fetching();
    if (key === undefined) throw new Error("No key");
    const finds = Array.from({ length: 100 }, async (_unused, n) =>
      keys.find(key, { url: server.url.href, kid: `k${n}`, secret: "a:b" }),
    );
    await Promise.allSettled(finds);
    expect(served.count).toBe(30);
    // Another provider has its own budget.
    const other = { ...key };
    await keys.find(other, { url: server.url.href, kid: "k0", secret: "c:d" });
    expect(served.count).toBe(31);
  });

  test("cannot evict a known key by unknown ones, nor prevent that it is fetched again", async () => {
    const clock = manualClock(now * 1_000);
    const keys = keyStore(clock, fetchAnywhere);
    const source: KeySource = { url: server.url.href, format: "jwks", cacheMinutes: 60 };
    const find = async (kid: string) =>
      keys.find(source, { url: server.url.href, kid, secret: "a" });
    const body = JSON.stringify({
      keys: [
        { ...jwk, kid: "k1" },
        { ...jwk, kid: "k2" },
      ],
    });
    Object.assign(served, { body, status: 200, count: 0 });
    expect(await find("k1")).not.toBeNull();
    keys.confirm(source, { url: server.url.href, kid: "k1", secret: "a" });
    for (let minute = 0; minute < 4; minute += 1) {
      await Promise.allSettled(Array.from({ length: 29 }, (_, n) => find(`x${minute}.${n}`)));
      clock.advance(60_000);
    }
    expect(served.count).toBe(1 + 4 * 29);
    await find("k1");
    expect(served.count).toBe(1 + 4 * 29);
    clock.advance(60 * 60_000);
    await Promise.allSettled(Array.from({ length: 40 }, (_, n) => find(`y${n}`)));
    expect(await find("k1")).not.toBeNull();
  });

  test("cannot evict a key that verified a delivery by naming others of the service", async () => {
    const clock = manualClock(now * 1_000);
    const keys = keyStore(clock, fetchAnywhere);
    const named = Array.from({ length: 100 }, (_, n) => ({ ...jwk, kid: `k${n}` }));
    Object.assign(served, { body: JSON.stringify({ keys: named }), status: 200, count: 0 });
    const source: KeySource = { url: server.url.href, format: "jwks", cacheMinutes: 1_440 };
    const check = verifier({ ...plaid, key: source }, account, keys);
    const text = await token({ request_body_sha256: hash });
    const find = async (n: number, of = source) =>
      keys.find(of, { url: server.url.href, kid: `k${n}`, secret: account.current });
    expect(await outcome(check(request({ "plaid-verification": text })))).toBe("current");
    for (let n = 2; n < 100; n += 1) {
      clock.advance(2_100);
      await find(n);
      await find(n, { ...source, cacheMinutes: 60 });
    }
    const before = served.count;
    expect(before).toBe(1 + 2 * 98);
    await find(1);
    expect(served.count).toBe(before);
    // The first of the others is gone.
    await find(2);
    expect(served.count).toBe(before + 1);
  });

  test("are fetched once where the key id does not choose the key", async () => {
    const keys = keyStore(manualClock(now * 1_000), fetchAnywhere);
    Object.assign(served, { body: JSON.stringify(jwk), status: 200, count: 0 });
    const source: KeySource = { url: server.url.href, format: "jwk" };
    for (let n = 0; n < 100; n += 1) {
      await keys.find(source, { url: server.url.href, kid: `k${n}`, secret: "a" });
    }
    expect(served.count).toBe(1);
  });

  test.each([
    [{}, "current"],
    [{ expired_at: null }, "current"],
    [{ expired_at: now + 1 }, "current"],
    [{ expired_at: now }, "untrusted-key"],
    [{ expired_at: "soon" }, "untrusted-key"],
  ])("verify with a key of %j: %s", async (more, expected) => {
    Object.assign(served, { body: JSON.stringify({ key: { ...jwk, ...more } }), status: 200 });
    const scheme = fetching();
    if (scheme.key === undefined) throw new Error("No key");
    const timed = { ...scheme, key: { ...scheme.key, expiresAt: "/key/expired_at" } };
    const check = verifier(timed, account, keyStore(manualClock(now * 1_000), fetchAnywhere));
    const text = await token({ request_body_sha256: hash });
    expect(await outcome(check(request({ "plaid-verification": text })))).toBe(expected);
  });
});

describe("the place of a published key", () => {
  const source: KeySource = {
    from: "header.x-key",
    hosts: ["sns.{region}.amazonaws.com"],
    path: "/SimpleNotificationService-{hex}.pem",
    format: "certificate",
  };
  const pem = "/SimpleNotificationService-56e67fcb41f6fec09b0196692625d385.pem";
  test.each([
    `http://sns.us-east-1.amazonaws.com${pem}`,
    `https://sns.us-east-1.amazonaws.com:8443${pem}`,
    `https://sns.us-east-1.amazonaws.com.evil.example${pem}`,
    "https://evil.example/sns.us-east-1.amazonaws.com",
    "https://a.b.sns.amazonaws.com/",
    `https://user@sns.us-east-1.amazonaws.com${pem}`,
    `https://sns.s3.amazonaws.com${pem}`,
    `https://sns.s3-us-west-2.amazonaws.com${pem}`,
    "https://sns.us-east-1.amazonaws.com/key.pem",
    `https://sns.us-east-1.amazonaws.com/bucket${pem}`,
    `https://sns.us-east-1.amazonaws.com/x/..${pem}`,
    `https://sns.us-east-1.amazonaws.com${pem}?a=1`,
    `https://sns.us-east-1.amazonaws.com${pem}#a`,
    "file:///etc/passwd",
    "not a url",
    "",
  ])("is never %s", (url) => {
    const keys = keyStore(manualClock(), fetchAnywhere);
    expect(keys.find(source, { url, kid: null, secret: "arn" })).toBeNull();
  });

  test("is of a catalogue file in an AWS region, not in an S3 bucket", () => {
    const { signature, handshakes = [] } = readProviderFile(
      "aws_sns.yaml",
      catalogueFiles["aws_sns"] ?? "",
    );
    const key = "key" in signature ? signature.key : undefined;
    const [host = "", confirmHost = ""] = [key?.hosts?.[0], handshakes[0]?.confirm?.hosts[0]];
    for (const pattern of [host, confirmHost]) {
      expect(hostMatches(pattern, "sns.us-west-2.amazonaws.com")).toBe(true);
      expect(hostMatches(pattern, "sns.us-gov-west-1.amazonaws.com")).toBe(true);
      expect(hostMatches(pattern, "sns.s3.amazonaws.com")).toBe(false);
      expect(hostMatches(pattern, "sns.s3-us-west-2.amazonaws.com")).toBe(false);
    }
    expect(pathMatches(key?.path ?? "", pem)).toBe(true);
    expect(pathMatches(key?.path ?? "", pem.replace("56", "zz"))).toBe(false);
  });

  test("is nowhere for commands that use no network", () => {
    expect(() => noKeys.find(source, { url: "", kid: null, secret: "a" })).toThrow();
  });
});

test("a signed form is identified by its fields, not by how they are encoded", () => {
  const twilio = readProviderFile("twilio.yaml", catalogueFiles["twilio"] ?? "");
  if (twilio.signature.kind !== "hmac") throw new Error("Twilio signs with an HMAC");
  const url = "https://hooks.example.com/webhooks/twilio";
  const verify = verifier(twilio.signature, { current: "a secret of Twilio", previous: null });
  const mac = new Bun.CryptoHasher("sha1", "a secret of Twilio").update(`${url}Bodyhi`);
  const headers = { "x-twilio-signature": mac.digest("base64") };
  const signed = ["Body=hi", "Body=h%69", "Body=hi&Body=hi"].map((body) => {
    const result = verify({ ...request(headers, Buffer.from(body)), url });
    return "verified" in result ? Buffer.from(result.verified.signedBytes).toString() : null;
  });
  expect(signed).toEqual(Array.from({ length: 3 }, () => `${url}Bodyhi`));
  const withId = fileProvider("twilio", "twilio.yaml", { ...twilio, deliveryId: "/MessageSid" });
  expect(withId.deliveryIdIsSigned).toBe(false);
});

describe("a secret that is sent itself", () => {
  const secrets = { current: "today's secret", previous: "yesterday's secret" };
  const gitlab: SharedSecretScheme = { kind: "shared-secret", from: "header.x-gitlab-token" };
  const bearer: SharedSecretScheme = { ...gitlab, from: "header.authorization", prefix: "Bearer " };
  const basic: BasicAuthScheme = { kind: "basic-auth" };
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  test.each([
    [gitlab, { "x-gitlab-token": "today's secret" }, "current"],
    [gitlab, { "x-gitlab-token": "yesterday's secret" }, "previous"],
    [gitlab, { "x-gitlab-token": "Today's secret" }, "wrong-signature"],
    [gitlab, { "x-gitlab-token": "today's secret, today's secret" }, "wrong-signature"],
    [gitlab, { "x-gitlab-token": "today's secre" }, "wrong-signature"],
    [gitlab, { "x-gitlab-token": "" }, "malformed-signature"],
    [gitlab, { "x-gitlab-token": "x".repeat(1_000_000) }, "wrong-signature"],
    [gitlab, {}, "missing-signature"],
    [bearer, { authorization: "Bearer today's secret" }, "current"],
    [bearer, { authorization: "today's secret" }, "malformed-signature"],
    [bearer, { authorization: "Bearer " }, "malformed-signature"],
    [basic, { authorization: `Basic ${base64("today's secret")}` }, "current"],
    [basic, { authorization: `basic ${base64("yesterday's secret")}` }, "previous"],
    [basic, { authorization: `Basic ${base64("other")}` }, "wrong-signature"],
    [basic, { authorization: `Basic ${base64("today's secret")}=` }, "malformed-signature"],
    [basic, { authorization: "Basic today" }, "malformed-signature"],
    [basic, {}, "missing-signature"],
  ] as const)("%j with %j: %s", async (scheme, headers, expected) => {
    expect(await outcome(verifier(scheme, secrets)(request({ ...headers })))).toBe(expected);
  });
});
