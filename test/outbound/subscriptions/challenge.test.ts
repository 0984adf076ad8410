import { describe, expect, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { systemClock } from "../../../src/base/clock.ts";
import { systemResolve } from "../../../src/base/public-address.ts";
import { challenger } from "../../../src/outbound/subscriptions/challenge.ts";
import { until } from "../../support/app.ts";
import { authority, certificateFor, noCertificates } from "../../support/certificates.ts";
import { manualClock } from "../../support/clock.ts";
import { never, type Received, testGateway } from "../../support/gateway.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

import { challengeIn, secretOf } from "./callback.ts";

const secret = secretOf("a");

const asked = (url: string, allowsPrivate = true, clock = systemClock) =>
  challenger({ clock, rules: { allowsPrivate }, resolve: systemResolve })(
    new URL(url),
    secret,
    "sub_1",
  );

const echo = (received: Received, more = {}) => ({ challenge: challengeIn(received), ...more });

test("an endpoint that repeats the challenge passes", async () => {
  await using endpoint = testGateway((_, received) => Response.json(echo(received)));
  expect(await asked(endpoint.url)).toBeNull();
  expect(await asked(endpoint.url)).toBeNull();
  const ids = endpoint.received.map(({ headers, body }) => {
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: "verification",
      challenge: expect.stringMatching(/^[\w-]{32}$/),
    });
    expect(headers["x-mcp-subscription-id"]).toBe("sub_1");
    return headers["webhook-id"];
  });
  expect(ids).toEqual([
    expect.stringMatching(/^msg_verification_[\w-]{32}$/),
    expect.stringMatching(/^msg_verification_[\w-]{32}$/),
  ]);
  expect(new Set([...ids, ...endpoint.received.map(challengeIn)]).size).toBe(4);
});

/** An answer without the header that tells its length. */
const streamed = (text: string) =>
  new Response(
    new ReadableStream({
      async pull(controller) {
        await Bun.sleep(1);
        controller.enqueue(text);
        if (text === "") controller.close();
      },
    }),
  );

test.each<[string, (received: Received) => Response, string]>([
  ["another text", () => Response.json({ challenge: "x" }), "challenge_failed"],
  ["no challenge", () => Response.json({}), "challenge_failed"],
  ["a list", (received) => Response.json([echo(received)]), "challenge_failed"],
  ["the bare text", (received) => new Response(challengeIn(received)), "challenge_failed"],
  ["the request", ({ body }) => new Response(`${body}x`), "challenge_failed"],
  ["nothing", () => new Response(), "challenge_failed"],
  ["204", () => new Response(null, { status: 204 }), "challenge_failed"],
  [
    "more than 1 KiB",
    (received) => Response.json(echo(received, { more: "x".repeat(1_024) })),
    "challenge_failed",
  ],
  ["without end", () => streamed("x".repeat(100)), "challenge_failed"],
  ["a redirect", () => Response.redirect("/next", 307), "http_4xx"],
  ["a moved page", () => Response.redirect("/next", 301), "http_4xx"],
  ["404", (received) => Response.json(echo(received), { status: 404 }), "http_4xx"],
  ["410", () => new Response("secret", { status: 410 }), "http_4xx"],
  ["500", (received) => Response.json(echo(received), { status: 500 }), "http_5xx"],
])("an endpoint that answers with %s fails the challenge", async (_, answer, reason) => {
  await using endpoint = testGateway((_, received) => answer(received));
  expect(await asked(endpoint.url)).toBe(reason as "http_4xx");
  expect(endpoint.received.map(({ path }) => path)).toEqual(["/notify"]);
});

test.each([
  ["never answers", () => never()],
  ["never ends its answer", () => new Response(new ReadableStream({ pull: () => never().then() }))],
])("an endpoint that %s is given ten seconds", async (_, answer) => {
  await using endpoint = testGateway(answer);
  const clock = manualClock();
  const result = asked(endpoint.url, true, clock);
  await until(() => endpoint.received.length === 1);
  await Bun.sleep(20);
  clock.advance(10_000);
  expect(await result).toBe("timeout");
});

describe("an address that is not allowed looks like one that refuses connections", () => {
  test.each([
    ["a closed port", "http://127.0.0.1:9999/", true],
    ["a host that does not exist", "http://no-such-host.invalid/", true],
    ["a private address", "https://10.0.0.1/", false],
    ["the loopback address", "https://127.0.0.1:9999/", false],
    ["a name of a private address", "https://localhost/", false],
    ["IPv6 of IPv4", "https://[::ffff:127.0.0.1]/", false],
    ["a number", "https://2130706433/", false],
    ["metadata of a cloud", "https://169.254.169.254/latest", false],
  ])("%s", async (_, url, allowsPrivate) => {
    expect(await asked(url, allowsPrivate)).toBe("connection_refused");
  });

  test("a name that resolves to a private address", async () => {
    await using endpoint = testGateway((_, received) => Response.json(echo(received)));
    const resolve = async () => ["93.184.216.34", "127.0.0.1"];
    const challenge = challenger({ clock: systemClock, rules: { allowsPrivate: false }, resolve });
    const url = new URL(`https://hook.example:${endpoint.port}/`);
    expect(await challenge(url, secret, "sub_1")).toBe("connection_refused");
    expect(endpoint.received).toEqual([]);
  });
});

test.skipIf(skips(noCertificates))("an unknown certificate, and none at all", async () => {
  const folder = temporaryFolder();
  const { certificate, key } = await certificateFor(
    folder,
    "localhost",
    await authority(folder, "nobody"),
  );
  const tls = { cert: Bun.file(certificate), key: Bun.file(key) };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response() });
  await using plain = testGateway();
  expect([
    await asked(`https://127.0.0.1:${server.port}/`),
    await asked(plain.url.replace("http:", "https:")),
  ]).toEqual(["tls_error", "tls_error"]);
  await server.stop(true);
  removeFolder(folder);
});
