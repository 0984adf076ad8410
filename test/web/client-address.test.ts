import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { clientAddress } from "../../src/web/client-address.ts";

// A real server has socket addresses. Every client of this test has the address 127.0.0.1.
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) =>
      new Response(clientAddress({ request, server }, Number(request.headers.get("x-hops")))),
  });
});
afterAll(() => server.stop(true));

async function addressFor(forwarded: string | null, hops = 1): Promise<string> {
  const headers = {
    "x-hops": `${hops}`,
    ...(forwarded !== null && { "x-forwarded-for": forwarded }),
  };
  return (await fetch(server.url, { headers })).text();
}

describe("the client's address", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:1234", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[::ffff:203.0.113.7]:443", "::ffff:203.0.113.7"],
    ["198.51.100.1:1, 203.0.113.7:65535", "203.0.113.7"],
    ["198.51.100.1,[2001:db8::1]:443 ", "2001:db8::1"],
    ["nonsense, 203.0.113.7", "203.0.113.7"],
  ])("is read from X-Forwarded-For: %s", async (forwarded, address) => {
    expect(await addressFor(forwarded)).toBe(address);
  });

  test.each([
    null,
    "",
    ",",
    "unknown",
    "203.0.113.7:",
    "203.0.113.7:port",
    "203.0.113.7:123456",
    "203.0.113.7:1:2",
    "203.0.113",
    "[203.0.113.7]:443",
    "[2001:db8::1",
    "2001:db8::1]",
    "[2001:db8::1]443",
    "[[2001:db8::1]]",
    "[]",
    ":443",
    '"203.0.113.7"',
    "for=203.0.113.7",
    "203.0.113.7, x",
    "203.0.113.7 x",
  ])("is the socket's if the nearest proxy forwarded no address: %p", async (forwarded) => {
    expect(await addressFor(forwarded)).toBe("127.0.0.1");
  });

  test("is the socket's without trusted proxies", async () => {
    expect(await addressFor("203.0.113.7", 0)).toBe("127.0.0.1");
  });

  test("comes from the outermost trusted proxy that forwarded an address", async () => {
    const nearer = "198.51.100.1:80";
    expect(await addressFor(`192.0.2.66, 203.0.113.7:1234, ${nearer}`, 2)).toBe("203.0.113.7");
    expect(await addressFor(`192.0.2.66, unknown, ${nearer}`, 2)).toBe("198.51.100.1");
    expect(await addressFor(nearer, 2)).toBe("198.51.100.1");
    expect(await addressFor("192.0.2.66, unknown, x", 2)).toBe("127.0.0.1");
  });
});
