import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";

import { systemClock } from "../../../src/base/clock.ts";
import { poster, PostError } from "../../../src/outbound/transports/post.ts";
import { until } from "../../support/app.ts";
import { failure } from "../../support/failure.ts";
import { folderForTests } from "../../support/folder.ts";
import { serving } from "../../support/serving.ts";

const request = { headers: { "content-type": "application/json" }, body: "{}" };
const never = new AbortController().signal;
const toLoopback = poster({ clock: systemClock, addressesOf: async () => ["127.0.0.1"] });

test("connects to the checked address, not to what the name resolves to", async () => {
  await using server = serving(
    (received) => new Response(received.headers.get("host"), { status: 400 }),
  );
  // This name does not exist: resolving it again would fail.
  const url = new URL(`http://hook.invalid:${server.port}/x`);
  const { status, text } = await toLoopback(url, request, never);
  expect({ status, text }).toEqual({ status: 400, text: `hook.invalid:${server.port}` });
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

test("does not decompress the answer", async () => {
  const bomb = Uint8Array.from(zstdCompressSync(Buffer.alloc(2 ** 20, "A")));
  let asked: string | null = null;
  await using server = serving(({ headers }) => {
    asked = headers.get("accept-encoding");
    return new Response(bomb, { status: 500, headers: { "content-encoding": "zstd" } });
  });
  const url = new URL(`http://a.invalid:${server.port}/`);
  expect((await toLoopback(url, request, never)).text).toBe("");
  expect(String(asked)).toBe("identity");
});

test("shows an answer without characters that change the line", async () => {
  await using server = serving(
    () => new Response("a\u202eb\u2028c\u0007d \r\n e", { status: 500 }),
  );
  const url = new URL(`http://a.invalid:${server.port}/`);
  expect((await toLoopback(url, request, never)).text).toBe("a b c d e");
});

test("reads the beginning of an answer without end", async () => {
  const chunk = new Uint8Array(16_384).fill(97);
  await using server = serving(() => {
    const endless = new ReadableStream({
      async pull(stream) {
        await Bun.sleep(1);
        stream.enqueue(chunk);
      },
    });
    return new Response(endless, { status: 500 });
  });
  // Without timers, only the size ends it.
  const clock = { now: () => 0, after: () => () => {} };
  const post = poster({ clock, addressesOf: async () => ["127.0.0.1"] });
  const answer = await post(new URL(`http://a.invalid:${server.port}/`), request, never);
  expect(answer.text).toBe("a".repeat(200));
});

test("gives up after ten seconds, also while resolving", async () => {
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
  const resolving = failure(hanging(new URL("http://a.invalid/"), request, never));
  pass();
  expect(await resolving).toEqual(new PostError("no answer within 10 s"));

  const received = Promise.withResolvers<void>();
  await using server = serving(() => {
    received.resolve();
    return new Promise<Response>(() => {});
  });
  const silent = poster({ clock, addressesOf: async () => ["127.0.0.1"] });
  const answer = failure(silent(new URL(`http://a.invalid:${server.port}/`), request, never));
  await received.promise;
  pass();
  expect(await answer).toEqual(new PostError("no answer within 10 s"));
  expect(timers.size).toBe(0);
});

const unfinished = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 100\r\n\r\n so  far`;

const complete = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/** What a receiver writes, whether it then ends the connection, and what the request resolves to. */
const answers: Record<string, readonly [string, boolean, number, unknown]> = {
  "200, never the rest": [unfinished("200 OK"), false, 200, "so far"],
  // The runtime may drop what came before.
  "200, cut off": [unfinished("200 OK"), true, 200, expect.any(String)],
  "200, no body at all": ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", false, 200, ""],
  "202, chunks without an end": [
    "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
    false,
    202,
    "ok",
  ],
  "200, a chunk that is none": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nok\r\n",
    false,
    200,
    "",
  ],
  "200, until the connection ends": ["HTTP/1.1 200 OK\r\n\r\nok", true, 200, "ok"],
  "204 with a body": ["HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", false, 204, ""],
  "100 and 103 before 200": [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${unfinished("200 OK")}`,
    false,
    200,
    "so far",
  ],
  "302, never the rest": [unfinished("302 Found\r\nLocation: /"), false, 302, "so far"],
  "400, cut off": [unfinished("400 Bad Request"), true, 400, expect.any(String)],
  "503, never the rest": [unfinished("503 Busy\r\nRetry-After: 7"), false, 503, "so far"],
};

test("the status decides, whatever becomes of the body, and no connection stays", async () => {
  const [paths, open] = [Object.keys(answers), new Set<object>()];
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void open.add(socket),
      close: (socket) => void open.delete(socket),
      data(socket, bytes) {
        const path = /^POST \/(\d*) /.exec(bytes.toString())?.[1] ?? "";
        const [answer, ends] = answers[paths[Number(path || "none")] ?? ""] ?? [complete, false];
        socket.write(answer);
        if (ends) socket.end();
      },
    },
  });
  const urlOf = (path: string) => new URL(`http://a.invalid:${server.port}/${path}`);
  const got: unknown[] = await Promise.all(
    paths.map(async (name, index) => {
      const { status, text } = await toLoopback(urlOf(String(index)), request, never);
      return [name, status, text];
    }),
  );
  expect(got).toEqual(Object.entries(answers).map(([name, [, , ...rest]]) => [name, ...rest]));
  // None that is half read is used again.
  for (let n = 0; n < 20; n += 1)
    expect((await toLoopback(urlOf(""), request, never)).status).toBe(200);
  await until(() => open.size <= 1);
});

test("a success whose text is wanted is read, and fails without its end", async () => {
  const maxAnswerBytes = 1_000;
  const post = poster({ clock: systemClock, addressesOf: async () => null, maxAnswerBytes });
  await using server = serving(({ url }) =>
    url.endsWith("/whole") ? new Response("challenge") : new Response("c".repeat(1_001)),
  );
  const textOf = async (path: string) =>
    (await post(new URL(`http://127.0.0.1:${server.port}/${path}`), request, never)).text;
  expect(await textOf("whole")).toBe("challenge");
  expect(await textOf("larger")).toBe("");
});

test("does not repeat the URL in an error, because it may hold a secret", async () => {
  await using server = serving(() => new Response("plain HTTP"));
  const url = new URL(`https://hook.invalid:${server.port}/hunter2`);
  const error = await failure(toLoopback(url, request, never));
  expect(error).toBeInstanceOf(PostError);
  expect(String(error)).not.toContain("hunter2");
  const addressesOf = ({ href }: URL) => Promise.reject(new Error(`no address of ${href}`));
  const unresolved = await failure(
    poster({ clock: systemClock, addressesOf })(url, request, never),
  );
  expect(String(unresolved)).toBe("PostError: the request failed");
});

describe("over TLS", () => {
  const folder = folderForTests();

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
