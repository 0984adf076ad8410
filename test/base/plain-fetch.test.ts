import { expect, test } from "bun:test";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";

import { plainFetch } from "../../src/base/plain-fetch.ts";
import { responseText } from "../../src/base/response-text.ts";
import { serving } from "../support/serving.ts";

const packed = (coding: string, body: Uint8Array<ArrayBuffer>) =>
  serving(() => new Response(body, { headers: { "content-encoding": coding } }));

const zeros = Buffer.alloc(64 * 2 ** 20);
// The default quality of Brotli takes 1.5 s.
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };
const codings = [
  ["gzip", Uint8Array.from(gzipSync(zeros))],
  ["br", Uint8Array.from(brotliCompressSync(zeros, fast))],
  ["zstd", Uint8Array.from(zstdCompressSync(zeros))],
] as const;

test.each(codings)("does not decompress %s [API4-20]", async (coding, bytes) => {
  await using server = packed(coding, bytes);
  const response = await plainFetch(server.url, {});
  expect((await response.bytes()).length).toBe(bytes.length);
});

test("asks for no compression, and keeps the other headers", async () => {
  await using server = serving(({ headers }) =>
    Response.json([headers.get("accept-encoding"), headers.get("x-a")]),
  );
  const response = await plainFetch(server.url, { headers: { "x-a": "b" } });
  expect(await response.json()).toEqual(["identity", "b"]);
});

test.each(codings)("a text of 64 MiB in a few bytes of %s is an error", async (coding, bytes) => {
  await using server = packed(coding, bytes);
  const text = responseText(await plainFetch(server.url, {}), 2 ** 20);
  const error = await text.catch((reason: unknown) => reason);
  expect(String(error)).toBe(
    coding === "gzip"
      ? "Error: the response is larger than 1048576 bytes"
      : `Error: the response has the coding ${coding}, which was not asked for`,
  );
});

test("reads gzip that a server sends anyway", async () => {
  await using server = packed("gzip", Uint8Array.from(gzipSync("naïve")));
  expect(await responseText(await plainFetch(server.url, {}), 100)).toBe("naïve");
});

test("rejects a text over the limit, and bytes that are not gzip", async () => {
  await using long = serving(() => new Response("x".repeat(101)));
  const tooLong = responseText(await plainFetch(long.url, {}), 100);
  expect(String(await tooLong.catch((reason: unknown) => reason))).toContain("larger than 100");
  await using damaged = packed("gzip", Uint8Array.from(Buffer.from("no gzip")));
  const text = responseText(await plainFetch(damaged.url, {}), 100);
  expect(await text.catch((reason: unknown) => reason)).toBeInstanceOf(Error);
});
