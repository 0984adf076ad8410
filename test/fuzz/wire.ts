import fc from "fast-check";

import { checkLeaks } from "./oracle.ts";
import { shownBytes } from "./request.ts";
import { target } from "./target.ts";
import { damaged, hostileText } from "./text.ts";

const line = (text: string): string => text.replaceAll(/[\r\n]/g, "");

const requestLine = fc
  .tuple(
    fc.constantFrom("GET", "POST", "get", "G\u00e9T", "", "CONNECT", "TRACE", "PRI"),
    fc.oneof(
      fc.constantFrom(
        "/",
        "*",
        "//",
        "/../..",
        "http://other.example/graphql",
        "/graphql?query={me{name}}",
        "/v1/api/flights/1",
        "/webhooks/task_tracker",
        "/v1/api/bookings/%",
        "x",
        `/${"a".repeat(20_000)}`,
      ),
      hostileText.map(line),
    ),
    fc.constantFrom("HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/9.9", "", "http/1.1"),
  )
  .map((parts) => parts.join(" "));

const headerLine = fc.oneof(
  fc.constantFrom(
    "Host: x",
    "Host: [::bad",
    "Host: a b",
    "Host:",
    "Host: x:99999999",
    "Content-Length: 0",
    "Content-Length: 5",
    "Content-Length: -1",
    "Content-Length: 99999999999999999999",
    "Content-Length: 5, 5",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: identity",
    "Content-Type: application/json",
    "Accept: application/json",
    "Accept: text/html",
    "Expect: 100-continue",
    "Connection: close",
    "Connection: upgrade",
    "Upgrade: websocket",
    "Upgrade: h2c",
    " folded: yes",
    ": no name",
    "no colon",
    "x-forwarded-for: 9.9.9.9",
  ),
  fc.tuple(hostileText, hostileText).map(([name, value]) => `${line(name)}: ${line(value)}`),
);

const bodyText = fc.constantFrom(
  "",
  "hello",
  "{}",
  "5\r\nhello\r\n0\r\n\r\n",
  "zz\r\nhello\r\n0\r\n\r\n",
  "-1\r\n\r\n",
  "ffffffffffffffff\r\nx",
  "0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
);

const whole = fc
  .tuple(requestLine, fc.array(headerLine, { maxLength: 6 }), bodyText)
  .map(([first, headers, body]) =>
    Uint8Array.from(Buffer.from(`${[first, ...headers].join("\r\n")}\r\n\r\n${body}`)),
  );

const bytes = fc.oneof(
  { weight: 5, arbitrary: whole },
  { weight: 2, arbitrary: damaged(whole) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
);

export const wire = target({
  name: "wire",
  about: "bytes that are hardly HTTP, straight to the socket",
  shortRuns: 25,
  cases: bytes,
  show: shownBytes,
  async check(sent, world) {
    const answer = await world.sendRaw(sent);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 0);
    // 501 and 505 are HTTP's own words for what a server does not speak.
    if (status >= 500 && ![501, 505].includes(status)) throw new Error(`Answered ${answer}`);
    checkLeaks(answer, world, "The answer");
  },
});
