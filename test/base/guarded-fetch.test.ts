import { afterAll, beforeEach, expect, test } from "bun:test";

import { guardedFetch } from "../../src/base/guarded-fetch.ts";
import { AddressError } from "../../src/base/public-address.ts";
import { failure } from "../support/failure.ts";

let requests: string[] = [];
beforeEach(() => (requests = []));
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch({ url }) {
    const { pathname } = new URL(url);
    requests.push(pathname);
    if (pathname === "/redirect") return Response.redirect("/next", 307);
    return new Response(pathname === "/large" ? "x".repeat(70_000) : "the key");
  },
});
afterAll(() => server.stop(true));

/** The error of a fetch from an address. */
async function errorOf(url: string, addresses: readonly string[], allowsPrivate = false) {
  const fetchUrl = guardedFetch({ allowsPrivate, resolve: async () => addresses });
  return failure(fetchUrl(new URL(url)));
}

test.each([
  ["a loopback address", "https://127.0.0.1:PORT/key", []],
  ["the metadata service of a cloud", "https://169.254.169.254/latest", []],
  ["a local name", "https://localhost:PORT/key", ["93.184.215.14"]],
  ["a name of a loopback address", "https://keys.example.com:PORT/key", ["127.0.0.1"]],
  ["a name of which one address is private", "https://a.example:PORT/", ["8.8.8.8", "10.0.0.1"]],
  ["plain http", "http://keys.example.com:PORT/key", ["93.184.215.14"]],
  ["a port of another protocol", "https://keys.example.com:25/", ["93.184.215.14"]],
])("fetches nothing from %s", async (_, url, addresses) => {
  const error = await errorOf(url.replace("PORT", String(server.port)), addresses);
  expect(error).toBeInstanceOf(AddressError);
  expect(requests).toEqual([]);
});

test("fetches from private addresses where they are allowed", async () => {
  const fetchUrl = guardedFetch({ allowsPrivate: true, resolve: async () => [] });
  expect(await fetchUrl(new URL("/key", server.url))).toEqual({
    ok: true,
    status: 200,
    text: "the key",
  });
});

test("follows no redirect and reads no more than 64 KiB", async () => {
  for (const path of ["/redirect", "/large"]) {
    expect(await errorOf(new URL(path, server.url).href, [], true)).toBeInstanceOf(Error);
  }
  expect(requests).toEqual(["/redirect", "/large"]);
});
