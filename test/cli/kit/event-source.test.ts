import { expect, test } from "bun:test";

import { messagesOf, type SourceMessage } from "../../../src/cli/kit/event-source.ts";
import { bulkReplay } from "../../../src/cli/operate/bulk-replay.ts";
import { endsAfterEach } from "../../support/ends.ts";

const ends = endsAfterEach();

/** A server that another program wrote. Returns its address. */
function served(respond: (request: Request) => Response): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  ends.push(() => server.stop(true));
  return server.url.origin;
}

/** Reads a stream until its first message, or until it is lost. */
async function followed(stream: string): Promise<SourceMessage | string> {
  const stopped = new AbortController();
  let lost = "";
  const source = {
    url: served(() => new Response(stream)),
    mint: () => Promise.resolve("token"),
    signal: stopped.signal,
    onConnected: () => {},
    onLost: (reason: string) => {
      lost = reason;
      stopped.abort();
    },
  };
  for await (const message of messagesOf(source, null)) return message;
  return lost;
}

test("reads a stream whose lines a proxy ends with CR LF", async () => {
  const stream = 'id: 7\r\nevent: event\r\ndata: {"title":"a"}\r\n\r\n';
  expect(await followed(stream)).toEqual({ seq: 7, event: { title: "a" } });
});

test("prints no control characters of a stream that is not valid", async () => {
  const lost = await followed("id: 7\nevent: event\ndata: \u001b]0;title\u0007\n\n");
  expect(lost).toMatch(/^[ -~]+$/);
});

test("gives up if no server was ever there, and not if one is busy", async () => {
  const source = {
    mint: () => Promise.resolve("token"),
    signal: new AbortController().signal,
    onConnected: () => {},
    onLost: () => {},
  };
  const next = (url: string) => messagesOf({ ...source, url }, null).next();
  expect(next("http://127.0.0.1:1/v1/events/feed")).rejects.toThrow(
    /^http:\/\/127\.0\.0\.1:1 cannot be reached \(connection refused\): is .* serve` running/,
  );
  let asked = 0;
  const busy = served(() => {
    asked += 1;
    return asked === 1
      ? new Response("", { status: 503 })
      : new Response('id: 7\nevent: event\ndata: {"title":"a"}\n\n');
  });
  expect((await next(busy)).value).toEqual({ seq: 7, event: { title: "a" } });
});

test("says how to follow a replay again when the server does not respond", async () => {
  const running = { id: "rpl_1", status: "running", total: 2 };
  const url = served(({ method }) =>
    method === "POST"
      ? Response.json(running, { status: 201 })
      : Response.json({ code: "unavailable", detail: "The database is down" }, { status: 503 }),
  );
  const env = { OPERATOR_TOKEN: "token" };
  expect(bulkReplay({ server: url, delivery: "dead" }, env)).rejects.toThrow(
    /^The server answers 503 unavailable: The database is down\. The replay goes on .* replay --resume rpl_1$/,
  );
});
