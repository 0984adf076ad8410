import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { embedded } from "../../scripts/build.ts";
import { write } from "../../src/db/statement.ts";
import { mintConsoleCode } from "../../src/identity/auth/console-codes.ts";
import {
  idempotencyByKey,
  insertIdempotency,
} from "../../src/identity/idempotency/idempotency.sql.ts";
import { json, startApp, until } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { post } from "../support/flights.ts";
import {
  programName,
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../support/program.ts";
import { appForAll } from "../support/running-app.ts";

const own = { "x-skyhook-console": "1" };
/** Without the first responses of the API, which have about 10 kB. */
const maxCompressedBytes = 80_000;

describe("the console's page", () => {
  const app = appForAll();
  const compressed = { headers: { "accept-encoding": "gzip" } };

  test("is small and loads only files from this server, compressed and with ETags", async () => {
    const page = await app.fetch("/console");
    const html = await page.text();
    const named = [...html.matchAll(/(?:src|href)="(console[^"]+)"/g)].map(([, path = ""]) => path);
    expect(named).toEqual([
      "console/page.css",
      "console/start.js",
      "console/main.js",
      "console/page.js",
    ]);
    let bytes = html.length;
    for (const path of named) {
      const answer = await app.fetch(`/${path}`, compressed);
      expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, "gzip"]);
      bytes += (await answer.arrayBuffer()).byteLength;
      const headers = { ...compressed.headers, "if-none-match": answer.headers.get("etag") ?? "" };
      expect((await app.fetch(`/${path}`, { headers })).status).toBe(304);
    }
    console.log(`the console is ${Math.round(bytes / 1_000)} kB compressed`);
    expect(bytes).toBeLessThan(maxCompressedBytes);
    for (const [later, text] of [
      ["others", "New replay"],
      ["uPlot.esm", "u-legend"],
    ] as const) {
      expect(await (await app.fetch(`/console/${later}.js`)).text()).toContain(text);
      for (const path of named)
        expect(await (await app.fetch(`/${path}`)).text()).not.toContain(`"${text}"`);
    }
  });

  test("names only scripts that the server has, and no other origin except XML namespaces", async () => {
    const names = new Set(["page.js"]);
    for (const name of names) {
      const answer = await app.fetch(`/console/${name}`);
      expect([name, answer.status]).toEqual([name, 200]);
      const text = await answer.text();
      for (const [, other = ""] of text.matchAll(/"\.\/([\w.]+\.js)"/g)) names.add(other);
      const origins = [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([origin]) => origin);
      expect(origins.filter((origin) => origin !== "http://www.w3.org")).toEqual([]);
    }
    expect([...names].toSorted()).toEqual(["main.js", "others.js", "page.js", "uPlot.esm.js"]);
  });

  test("has the outline of the frame, so that there is something to see before its script", async () => {
    const html = await (await app.fetch("/console")).text();
    expect(html).toMatch(/id="opening">\s+<div class="side" aria-hidden="true">/);
    expect(html).toMatch(/role="status">Loading console…<\/p>\s+<div class="bones">/);
  });

  test("gets long responses compressed, other clients and short responses do not", async () => {
    const encodings = async (path: string, headers: Record<string, string>) => {
      const token = await app.services.tokens.mint({ id: "u", roles: ["admin"] }, 60);
      const authorization = `Bearer ${token}`;
      const answer = await app.fetch(path, { headers: { authorization, ...headers } });
      expect(answer.status).toBe(200);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const encoding = answer.headers.get("content-encoding");
      const plain = encoding === null ? bytes : Buffer.from(Bun.gunzipSync(bytes));
      JSON.parse(plain.toString());
      return encoding;
    };
    const long = "/v1/providers";
    const encoded = { ...own, ...compressed.headers };
    expect(await encodings(long, encoded)).toBe("gzip");
    expect(await encodings(long, own)).toBeNull();
    expect(await encodings(long, compressed.headers)).toBeNull();
    expect(await encodings("/v1/events?limit=1", encoded)).toBeNull();
  });

  test("has a policy that allows only its own files and no HTML from strings", async () => {
    const policy = (await app.fetch("/console")).headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self';", "style-src 'self';"]) {
      expect(policy).toContain(rule);
    }
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await (await app.fetch("/console")).text();
    expect(html).not.toMatch(/<script>|<style|style="|\son\w+=/);
  });

  test("is inlined into the compiled program", async () => {
    const entry = join(import.meta.dir, "../../src/console/script.embedded.ts");
    const built = await Bun.build({ entrypoints: [entry], target: "bun", plugins: [embedded] });
    const code = await built.outputs[0]?.text();
    expect(code).toContain("skyhook.session");
    expect(code).not.toContain("Bun.spawn");
  });
});

const issuing = {
  key: Buffer.from("a test key of thirty-two bytes!!"),
  issuer: "skyhook",
  audience: "skyhook",
};

describe("a one-time code", () => {
  const clock = manualClock();
  const app = appForAll({}, clock);
  const exchange = (code: unknown) => app.fetch("/v1/auth/session", post({ code }, own));

  test("succeeds for only one of many concurrent exchanges", async () => {
    const code = await mintConsoleCode(issuing, "operator", clock);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test("expires after two minutes", async () => {
    const [early, late] = await Promise.all([
      mintConsoleCode(issuing, "operator", clock),
      mintConsoleCode(issuing, "operator", clock),
    ]);
    clock.advance(119_000);
    expect((await exchange(early)).status).toBe(200);
    clock.advance(2_000);
    const expired = await exchange(late);
    expect(expired.status).toBe(401);
    expect(String((await json(expired))["detail"])).toContain("skyhook console");
  });

  test("stays used on an instance whose clock is behind that of the instance that prunes", async () => {
    const { storage } = app.services;
    const code = await mintConsoleCode(issuing, "operator", clock);
    expect((await exchange(code)).status).toBe(200);
    const createdAt = new Date(clock.now());
    const expiresAt = new Date(clock.now() + 120_000);
    const place = { scope: "test", key: "as old as the code" };
    const other = { ...place, requestHash: new Uint8Array(), resourceId: "", createdAt, expiresAt };
    await storage.atomically(write(insertIdempotency, other));
    await until(async () => {
      clock.advance(1_000);
      return (await storage.all(idempotencyByKey, place)).length === 0;
    });
    const behindMs = clock.now() - expiresAt.getTime() + 10_000;
    clock.jump(-behindMs);
    expect((await exchange(code)).status).toBe(401);
    clock.jump(behindMs);
  });

  test("is not accepted as an access token, nor an access token as a code", async () => {
    const code = await mintConsoleCode(issuing, "admin", clock);
    const headers = { authorization: `Bearer ${code}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
    const token = await app.services.tokens.mint({ id: "u", roles: ["admin"] }, 60);
    expect((await exchange(token)).status).toBe(401);
    const otherKey = { ...issuing, key: Buffer.alloc(32, 1) };
    expect((await exchange(await mintConsoleCode(otherKey, "admin", clock))).status).toBe(401);
    for (const nonsense of ["", "x", "a.b.c", "x".repeat(5_000), 7]) {
      expect((await exchange(nonsense)).status).toBe(401);
    }
    expect((await app.fetch("/v1/auth/session", post("{", own))).status).toBe(400);
    const plain = post({ code: "x" }, { ...own, "content-type": "text/plain" });
    const unsupported = await app.fetch("/v1/auth/session", plain);
    expect(unsupported.status).toBe(415);
    expect(unsupported.headers.get("accept")).toBe("application/json");
  });
});

test("the page says where users reach the server", async () => {
  await using app = await startApp({ PUBLIC_URL: "https://hooks.example.com" });
  const page = await (await app.fetch("/console")).text();
  expect(page).toContain('data-host="hooks.example.com"');
});

describe("skyhook console", () => {
  const folder = temporaryFolder();
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ cwd: folder, env: { LOG_FORMAT: "json" } });
  });
  afterAll(async () => {
    await server.stop();
    removeFolder(folder);
  });

  test("prints a link that signs in at the running server with their shared key", async () => {
    const { out, err, code } = await runSkyhook(["console"], server);
    expect([code, err]).toEqual([0, "Signs in once, as operator, within 2 minutes:\n"]);
    const [, address, secret] =
      /^(http:\/\/127\.0\.0\.1:\d+\/console)#code=(\S+)\n$/.exec(out) ?? [];
    expect(address).toBe(`${server.url}/console`);
    expect((await fetch(address ?? "")).status).toBe(200);
    expect((await fetch(`${server.url}/v1/auth/session`, post({ code: secret }, own))).status).toBe(
      200,
    );
    expect(server.log()).not.toContain(String(secret));
  });

  test.each([
    ["ada (operator)", { USER: "ada" }],
    ["ada (operator)", { USER: "root", SUDO_USER: "ada" }],
    ["operator", { USER: "a\u202eb" }],
  ])("names the user of the system: %s", async (who, user) => {
    const named = { cwd: server.cwd, env: { ...server.env, ...user } };
    const { err } = await runSkyhook(["console"], named);
    expect(err).toBe(`Signs in once, as ${who}, within 2 minutes:\n`);
  });

  test("rejects a name that could hide something", async () => {
    for (const name of [" ", "a\u0007b", "a\u202eb", "x".repeat(61)]) {
      const { err, code } = await runSkyhook(["console", `--name=${name}`], server);
      expect([name, code]).toEqual([name, 2]);
      expect(err).toContain("Write 1 to 60 characters, not all invisible");
    }
  });

  test("warns if the server cannot be reached", async () => {
    const url = "http://127.0.0.1:1";
    const { out, err, code } = await runSkyhook(["console", "--server", url], server);
    expect(out).toStartWith(`${url}/console#code=`);
    expect(err).toContain(
      `${url} cannot be reached (connection refused): is \`${programName} serve\` running?`,
    );
    expect(code).toBe(0);
  });

  test("explains why it cannot make a link: no signing key, or an external token issuer", async () => {
    const elsewhere = await runSkyhook(["console"], { cwd: folder, env: { DATA_DIR: "nowhere" } });
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.err).toContain("run this command with the server's DATA_DIR or JWT_SECRET");
    const env = {
      ...server.env,
      JWKS_URL: "https://id.example/jwks",
      JWT_ISSUER: "https://id.example",
    };
    const foreign = await runSkyhook(["console"], { cwd: folder, env });
    expect(foreign.out).toBe(`${server.url}/console\n`);
    expect(foreign.err).toContain("Open the console and paste one");
  });
});
