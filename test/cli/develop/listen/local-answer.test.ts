import { afterEach, expect, test } from "bun:test";

import { localAnswer } from "../../../../src/cli/develop/listen/local-answer.ts";
import { problemOf } from "../../../../src/cli/kit/request.ts";

let stop = async () => {};
afterEach(() => stop());

/** Posts to a local program that answers so. */
async function answerOf(respond: () => Response) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  stop = () => server.stop(true);
  const request = () => ({ headers: {}, unsigned: null });
  const { signal } = new AbortController();
  return localAnswer(server.url.href, request, new Uint8Array(), signal, () => {});
}

test("does not decompress the response of the local program", async () => {
  const headers = { "content-encoding": "gzip" };
  // Decompressing it would fail.
  expect(await answerOf(() => new Response("not compressed", { headers }))).toMatchObject({
    status: 200,
    error: null,
  });
});

test("reads only the beginning of an endless response", async () => {
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
  });
  expect(await answerOf(() => new Response(endless))).toMatchObject({ status: 200, error: null });
});

test("prints no control characters of another server", () => {
  const json = { code: "\u001b]0;title\u0007", detail: "a\u009b31m\r\nb" };
  const answer = { status: 400, ok: false, location: null, text: "", json };
  expect(problemOf(answer)).toBe("]0;title : a 31m b");
});
