import { expect, test } from "bun:test";

import { ParseError } from "eventsource-parser";

import { follow } from "../../../src/client/feed.ts";
import { failure } from "../../support/failure.ts";

test("a message that is too long ends the feed, which does not read it again", async () => {
  let asked = 0;
  const chunk = Buffer.alloc(2 ** 20, "x");
  using endless = Bun.serve({
    port: 0,
    fetch() {
      asked += 1;
      const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(chunk);
      const start = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(Buffer.from("data: "));
      return new Response(new ReadableStream({ start, pull }));
    },
  });
  const feed = follow((request) => fetch(request), endless.url.href);
  expect(await failure(feed.next())).toBeInstanceOf(ParseError);
  expect(asked).toBe(1);
});
