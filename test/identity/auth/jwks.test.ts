import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setSystemTime,
  test,
} from "bun:test";
import { tmpdir } from "node:os";

import { exportJWK, generateKeyPair, type GenerateKeyPairResult, SignJWT } from "jose";

import { json, jsonWith, startApp, type TestApp } from "../../support/app.ts";
import { runSkyhook } from "../../support/program.ts";
import { serveApp } from "../../support/served-app.ts";

/** An identity provider on a free port, which publishes keys and signs tokens. */
class IdentityProvider {
  readonly #keys = new Map<
    string,
    { alg: string; shownKid: string; pair: GenerateKeyPairResult }
  >();
  /** Replaces the response with the keys. */
  override: (() => Response) | null = null;
  fetches = 0;
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async () => {
      this.fetches += 1;
      return this.override?.() ?? Response.json({ keys: await this.#published() });
    },
  });
  readonly url = `${this.#server.url.href}jwks.json`;

  /** `shownKid`: the id that the document has instead; none if it is empty. */
  async addKey(kid: string, alg: string, shownKid = kid): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true });
    this.#keys.set(kid, { alg, shownKid, pair });
  }

  removeKey(kid: string): void {
    this.#keys.delete(kid);
  }

  keyOf(kid: string): GenerateKeyPairResult {
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`No key ${kid}`);
    return key.pair;
  }

  async #published(): Promise<object[]> {
    return Promise.all(
      Array.from(this.#keys.values(), async ({ alg, shownKid, pair }) => ({
        ...(await exportJWK(pair.publicKey)),
        ...(shownKid !== "" && { kid: shownKid }),
        alg,
        use: "sig",
      })),
    );
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}

const expected = {
  JWT_ISSUER: "https://idp.example.com/",
  JWT_AUDIENCE: "https://api.example.com",
};

let provider: IdentityProvider;
let app: TestApp;
const start = async () => {
  provider = new IdentityProvider();
  await provider.addKey("k1", "ES256");
  app = await startApp({ JWKS_URL: provider.url, ...expected });
};
const stop = async () => {
  setSystemTime();
  await app.stop();
  await provider.stop();
};

/** A token that is valid except for `claims` and `header`. */
async function token(
  kid: string,
  alg: string,
  claims: object = {},
  header: object = {},
  key?: CryptoKey | Uint8Array,
) {
  const now = Math.floor(app.clock.now() / 1_000);
  const all = {
    iss: expected.JWT_ISSUER,
    aud: expected.JWT_AUDIENCE,
    sub: "u1",
    iat: now,
    exp: now + 60,
    roles: ["operator"],
    ...claims,
  };
  return new SignJWT(all)
    .setProtectedHeader({ alg, kid, typ: "at+jwt", ...header })
    .sign(key ?? provider.keyOf(kid).privateKey);
}

const ask = (bearer: string, path = "/v1/events") =>
  app.fetch(path, { headers: { authorization: `Bearer ${bearer}` } });

describe("a token from an identity provider", () => {
  beforeEach(start);
  afterEach(stop);

  test.each(["RS256", "PS256", "ES256", "EdDSA"])("signed with %s is accepted", async (alg) => {
    await provider.addKey("k2", alg);
    expect((await ask(await token("k2", alg))).status).toBe(200);
  });

  test("causes one fetch of the keys, even if many tokens arrive at once", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) => token("k1", "ES256", { sub: `u${n}` })),
    );
    const answers = await Promise.all(tokens.map((each) => ask(each)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(provider.fetches).toBe(1);
  });

  test("signed with a new key is accepted after the keys are fetched again", async () => {
    expect((await ask(await token("k1", "ES256"))).status).toBe(200);
    await provider.addKey("k2", "ES256");
    provider.removeKey("k1");
    // Too early: anyone can name an unknown key, so fetches are limited.
    expect((await ask(await token("k2", "ES256"))).status).toBe(401);
    expect(provider.fetches).toBe(1);
    // The library uses the system clock.
    setSystemTime(new Date(Date.now() + 31_000));
    expect((await ask(await token("k2", "ES256"))).status).toBe(200);
    expect(provider.fetches).toBe(2);
  });

  test.each([
    ["without an id, of two keys without ids", "", { kid: undefined }],
    ["whose id two keys have", "same", { kid: "same" }],
  ])("signed with the second key %s is accepted", async (_, shownKid, header) => {
    for (const kid of ["k2", "k3"]) await provider.addKey(kid, "ES256", shownKid);
    for (const kid of ["k2", "k3"]) {
      expect((await ask(await token(kid, "ES256", {}, header))).status).toBe(200);
    }
    const { privateKey } = await generateKeyPair("ES256");
    expect((await ask(await token("k2", "ES256", {}, header, privateKey))).status).toBe(401);
  });

  test("signed with a key that replaced another under its id is accepted after a fetch", async () => {
    expect((await ask(await token("k1", "ES256"))).status).toBe(200);
    await provider.addKey("k1", "ES256");
    expect((await ask(await token("k1", "ES256"))).status).toBe(401);
    expect(provider.fetches).toBe(1);
    setSystemTime(new Date(Date.now() + 31_000));
    expect((await ask(await token("k1", "ES256"))).status).toBe(200);
    expect(provider.fetches).toBe(2);
  });

  test("with a subject of 255 characters is accepted, and its audit entries are found", async () => {
    const actor = "s".repeat(255);
    const admin = await token("k1", "ES256", { sub: actor, roles: ["admin"] });
    const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
    await ask(admin, `/v1/events/${String(id)}`);
    const entries = await json(await ask(admin, `/v1/audit?actor=${actor}`));
    expect(entries["data"]).toMatchObject([{ action: "event.revealed", actor }]);
    expect((await ask(admin, `/v1/api/bookings?userId=${actor}`)).status).toBe(200);
  });

  test("without roles is accepted where no role is required", async () => {
    const plain = await token("k1", "ES256", { roles: undefined });
    expect((await ask(plain, "/v1/users")).status).toBe(200);
    expect((await ask(plain)).status).toBe(403);
  });
});

describe("a token", () => {
  beforeAll(start);
  afterAll(stop);

  test.each([
    ["at+jwt", "application/at+jwt", 200],
    ["at+jwt", "AT+JWT", 200],
    ["at+jwt,JWT", "JWT", 200],
    ["at+jwt,JWT", undefined, 200],
    ["at+jwt", undefined, 401],
    ["at+jwt", "JWT", 401],
    ["JWT", "at+jwt", 401],
  ])("is accepted with JWT_TYPES=%s and typ %p: %i", async (types, typ, status) => {
    await using other = await startApp({ JWKS_URL: provider.url, ...expected, JWT_TYPES: types });
    const headers = { authorization: `Bearer ${await token("k1", "ES256", {}, { typ })}` };
    expect((await other.fetch("/v1/events", { headers })).status).toBe(status);
  });

  const claiming = (claims: object) => () => token("k1", "ES256", claims);
  const typed = (typ: unknown) => () => token("k1", "ES256", {}, { typ });
  /** Seconds from now. */
  const at = (seconds: number) => Math.floor(app.clock.now() / 1_000) + seconds;
  const byOther = async (kid: string) =>
    token(kid, "ES256", {}, {}, (await generateKeyPair("ES256")).privateKey);
  const byText = (key: string) => token("k1", "HS256", {}, {}, Buffer.from(key));
  const publicKey = async () => JSON.stringify(await exportJWK(provider.keyOf("k1").publicKey));
  const bad: [string, () => Promise<string>][] = [
    [
      "issued by Skyhook itself",
      () => app.services.tokens.mint({ id: "u1", roles: ["admin"] }, 60),
    ],
    ["from another issuer", claiming({ iss: "https://evil.example.com/" })],
    ["without an issuer", claiming({ iss: undefined })],
    ["for another audience", claiming({ aud: "https://other.example.com" })],
    ["of another type", typed("logout+jwt")],
    ["whose type is no text", typed(5)],
    ["whose type is null", typed(null)],
    ["that reports a logout", claiming({ events: {} })],
    ["that has expired", () => claiming({ exp: at(-31) })()],
    ["that never expires", claiming({ exp: undefined })],
    ["that is not yet valid", () => claiming({ nbf: at(60) })()],
    ["without a subject", claiming({ sub: undefined })],
    ["with a subject of 256 characters", claiming({ sub: "s".repeat(256) })],
    ["with a subject that PostgreSQL cannot store", claiming({ sub: "a\0b" })],
    ["signed with an unknown key", () => byOther("k9")],
    ["signed with another key under a known key id", () => byOther("k1")],
    ["signed with HS256 and the public key", async () => byText(await publicKey())],
    ["signed with HS256 and JWT_SECRET", () => byText("a test key of thirty-two bytes!!")],
    [
      "signed with an unsupported algorithm",
      async () => {
        await provider.addKey("k3", "RS512");
        return token("k3", "RS512");
      },
    ],
    ["that is not a JWT", async () => "nonsense"],
  ];

  test.each(bad)("%s is 401 [API2-3]", async (_, make) => {
    expect(await jsonWith(await ask(await make()), 401)).toMatchObject({ code: "invalid-token" });
  });
});

const bomb = Bun.gzipSync(Buffer.alloc(200_000_000, " "));
const packed = (body: Uint8Array<ArrayBuffer>) =>
  new Response(body, { headers: { "content-encoding": "gzip" } });

/** An endless stream of white space. */
const endless = () =>
  new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(65_536, " ")) });

describe("an identity provider that", () => {
  beforeEach(start);
  afterEach(stop);

  test.each([
    ["answers 500", () => new Response("no", { status: 500 })],
    ["answers without JSON", () => new Response("<html>")],
    ["answers without keys", () => Response.json({ nothing: true })],
  ])("%s causes a 503, and the next request fetches again", async (_, override) => {
    provider.override = override;
    const good = await token("k1", "ES256");
    const response = await ask(good);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    const text = await response.text();
    expect(text).toContain("unavailable");
    expect(text).not.toMatch(/127\.0\.0\.1|jwks|jose/i);
    provider.override = null;
    expect((await ask(good)).status).toBe(200);
  });

  test.each<[string, () => Response]>([
    ["answers more than 1 MiB", () => Response.json({ keys: [], padding: "x".repeat(2 ** 20) })],
    ["answers 200 MB in 200 KB of gzip", () => packed(bomb)],
    ["never ends its response", () => new Response(endless())],
    ["answers more than 100 keys", () => Response.json({ keys: Array(101).fill({ kty: "EC" }) })],
  ])("%s causes a 503", async (_, override) => {
    const good = await token("k1", "ES256");
    provider.override = override;
    const before = process.memoryUsage.rss();
    expect((await ask(good)).status).toBe(503);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
    provider.override = null;
    expect((await ask(good)).status).toBe(200);
  });

  test("compresses its keys is supported", async () => {
    const good = await token("k1", "ES256");
    const keys = Buffer.from(await (await fetch(provider.url)).text());
    provider.override = () => packed(Bun.gzipSync(keys));
    expect((await ask(good)).status).toBe(200);
  });

  test("redirects to valid keys causes a 503", async () => {
    const good = await token("k1", "ES256");
    const { url } = provider;
    let redirected = false;
    provider.override = () => {
      if (redirected) return Response.json({ keys: [] });
      redirected = true;
      return Response.redirect(url);
    };
    expect((await ask(good)).status).toBe(503);
    expect(provider.fetches).toBe(1);
  });

  test("sends its head or its body slowly causes a 503 after 5 s", async () => {
    await Promise.all([
      expectGivenUp("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
      expectGivenUp("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", " "),
    ]);
  });

  async function expectGivenUp(start: string, drop: string): Promise<void> {
    const open: Timer[] = [];
    using dripping = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          socket.write(start);
          open.push(setInterval(() => socket.write(drop), 200));
        },
        data: () => undefined,
      },
    });
    const slow = await startApp({ JWKS_URL: `http://127.0.0.1:${dripping.port}/`, ...expected });
    try {
      const authorization = `Bearer ${await token("k1", "ES256")}`;
      const startedMs = performance.now();
      // The server never ends its response, so only the time-out ends the wait.
      expect((await slow.fetch("/v1/events", { headers: { authorization } })).status).toBe(503);
      expect(performance.now() - startedMs).toBeGreaterThan(4_500);
    } finally {
      for (const timer of open) clearInterval(timer);
      await slow.stop();
    }
  }

  test("is down causes a 503", async () => {
    const good = await token("k1", "ES256");
    await provider.stop();
    expect((await ask(good)).status).toBe(503);
  });

  test("goes down later does not affect tokens already verified", async () => {
    const good = await token("k1", "ES256");
    expect((await ask(good)).status).toBe(200);
    await provider.stop();
    expect((await ask(good)).status).toBe(200);
  });
});

test("`skyhook replay` uses a token from the identity provider", async () => {
  await start();
  const settings = { JWKS_URL: provider.url, ...expected };
  const served = await serveApp(settings, app.clock);
  const env = { ...settings, PORT: new URL(served.url).port };
  const replay = (more: Record<string, string>) =>
    runSkyhook(["replay", "evt_0"], { cwd: tmpdir(), env: { ...env, ...more } });
  const good = await token("k1", "ES256");
  expect((await replay({ OPERATOR_TOKEN: good })).err).toBe(
    "skyhook: The server answers 404 not-found: No event with this id exists, or it was deleted by retention.\n",
  );
  for (const none of [{}, { OPERATOR_TOKEN: `${good}\nx` }]) {
    const { err, code } = await replay(none);
    expect(err).toContain("set OPERATOR_TOKEN to an operator's token");
    expect(err).not.toContain(good);
    expect(code).toBe(2);
  }
  await served.stop();
  await stop();
});
