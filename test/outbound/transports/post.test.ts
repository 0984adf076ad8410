import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";

import { systemClock } from "../../../src/base/clock.ts";
import { poster, PostError } from "../../../src/outbound/transports/post.ts";

const request = { headers: { "content-type": "application/json" }, body: "{}" };
const never = new AbortController().signal;
const toLoopback = poster({ clock: systemClock, addressesOf: async () => ["127.0.0.1"] });

/** Starts an HTTP server that ends with the test. */
function serving(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch });
  return { port: server.port, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

test("connects to the checked address, not to what the name resolves to", async () => {
  await using server = serving(
    (received) => new Response(received.headers.get("host"), { status: 400 }),
  );
  // This name does not exist: resolving it again would fail.
  const url = new URL(`http://hook.invalid:${server.port}/x`);
  const { status, excerpt } = await toLoopback(url, request, never);
  expect({ status, excerpt }).toEqual({ status: 400, excerpt: `hook.invalid:${server.port}` });
});

test.each([
  ["refuses the connection", "127.0.0.2"],
  // The network has no route to it, as to an IPv6 address in a network without IPv6.
  ["cannot be reached", "255.255.255.255"],
])("tries the next address if one %s", async (_, address) => {
  await using server = serving(() => new Response("ok"));
  const post = poster({ clock: systemClock, addressesOf: async () => [address, "127.0.0.1"] });
  const url = new URL(`http://hook.invalid:${server.port}/`);
  expect((await post(url, request, never)).status).toBe(200);
});

test("does not follow redirects", async () => {
  let followed = false;
  await using server = serving(({ url }) => {
    followed ||= url.endsWith("/next");
    return Response.redirect(`http://127.0.0.1:${server.port}/next`, 307);
  });
  const { status } = await toLoopback(new URL(`http://a.invalid:${server.port}/`), request, never);
  expect({ status, followed }).toEqual({ status: 307, followed: false });
});

test("does not decompress the answer", async () => {
  const bomb = Uint8Array.from(zstdCompressSync(Buffer.alloc(2 ** 20, "A")));
  let asked: string | null = null;
  await using server = serving(({ headers }) => {
    asked = headers.get("accept-encoding");
    return new Response(bomb, { status: 500, headers: { "content-encoding": "zstd" } });
  });
  const url = new URL(`http://a.invalid:${server.port}/`);
  expect((await toLoopback(url, request, never)).excerpt).toBe("");
  expect(String(asked)).toBe("identity");
});

test("shows an answer without characters that change the line", async () => {
  await using server = serving(
    () => new Response("a\u202eb\u2028c\u0007d \r\n e", { status: 500 }),
  );
  const url = new URL(`http://a.invalid:${server.port}/`);
  expect((await toLoopback(url, request, never)).excerpt).toBe("a b c d e");
});

test("gives up after ten seconds, also while resolving or while the answer drips", async () => {
  const timers = new Set<() => void>();
  const clock = {
    now: () => 0,
    after(_: number, action: () => void) {
      timers.add(action);
      return () => timers.delete(action);
    },
  };
  const pass = () => timers.forEach((action) => action());
  const hanging = poster({ clock, addressesOf: () => new Promise(() => {}) });
  const resolving = errorOf(hanging(new URL("http://a.invalid/"), request, never));
  pass();
  expect(await resolving).toEqual(new PostError("no answer within 10 s"));

  const received = Promise.withResolvers<void>();
  await using server = serving(() => {
    received.resolve();
    return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
  });
  const dripping = poster({ clock, addressesOf: async () => ["127.0.0.1"] });
  const answer = errorOf(dripping(new URL(`http://a.invalid:${server.port}/`), request, never));
  await received.promise;
  pass();
  expect(await answer).toEqual(new PostError("no answer within 10 s"));
  expect(timers.size).toBe(0);
});

test("does not repeat the URL in an error, because it may hold a secret", async () => {
  await using server = serving(() => new Response("plain HTTP"));
  const url = new URL(`https://hook.invalid:${server.port}/hunter2`);
  const error = await errorOf(toLoopback(url, request, never));
  expect(error).toBeInstanceOf(PostError);
  expect(String(error)).not.toContain("hunter2");
});

describe("over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-post-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("requires a certificate for the name, although it connects to an address", async () => {
    const made = Bun.spawnSync(
      [
        "openssl",
        ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem".split(
          " ",
        ),
        ..."-days 2 -subj /CN=hook.invalid -addext subjectAltName=DNS:hook.invalid".split(" "),
      ],
      { cwd: folder },
    );
    if (!made.success) {
      console.log("Skipped: openssl is missing");
      return;
    }
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { key: Bun.file(join(folder, "key.pem")), cert: Bun.file(join(folder, "cert.pem")) },
      fetch: () => new Response("ok"),
    });
    // The system's certificates are read at the start of a process.
    const script = `
      const { poster } = await import("${join(import.meta.dir, "../../../src/outbound/transports/post.ts")}");
      const { systemClock } = await import("${join(import.meta.dir, "../../../src/base/clock.ts")}");
      const post = poster({ clock: systemClock, addressesOf: async () => ["127.0.0.1"] });
      for (const name of ["hook.invalid", "other.invalid", "hook.invalid"]) {
        const url = new URL("https://" + name + ":${server.port}/hunter2");
        await post(url, { headers: {}, body: "" }, new AbortController().signal).then(
          ({ status }) => console.log(name + " " + status),
          ({ message }) => console.log(name + " " + message),
        );
      }`;
    const run = Bun.spawn([process.execPath, "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "cert.pem") },
      stderr: "inherit",
    });
    expect((await run.stdout.text()).split("\n")).toEqual([
      "hook.invalid 200",
      "other.invalid ERR_TLS_CERT_ALTNAME_INVALID",
      "hook.invalid 200",
      "",
    ]);
  });
});
