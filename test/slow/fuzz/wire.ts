import fc from "fast-check";

import { checkLeaks } from "./oracle.ts";
import { shownBytes } from "./request.ts";
import { target } from "./target.ts";
import { damaged, hostileText } from "./text.ts";

const line = (text: string): string => text.replaceAll(/[\r\n]/g, "");

/** Mostly what is right, or nothing of the request would be looked at. */
const mostly = (right: readonly string[], odd: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: odd });

const requestLine = fc
  .tuple(
    mostly(
      ["GET", "POST", "DELETE", "OPTIONS", "HEAD"],
      fc.constantFrom("get", "G\u00e9T", "", "CONNECT", "TRACE", "PRI"),
    ),
    mostly(
      [
        "/",
        "/v1/api/flights/1",
        "/v1/api/bookings",
        "/v1/auth/token",
        "/webhooks/task_tracker",
        "/graphql",
        "/graphql?query={me{name}}",
        "http://other.example/graphql?query={me{name}}",
        "//x/graphql",
        "/v1/api/bookings/%",
        "/v1/api/flights?origin=%ff&limit=\u00e9",
      ],
      fc.oneof(
        fc.constantFrom("*", "//", "/../..", "x", `/${"a".repeat(20_000)}`),
        hostileText.map(line),
      ),
    ),
    mostly(["HTTP/1.1"], fc.constantFrom("HTTP/1.0", "HTTP/2", "HTTP/9.9", "", "http/1.1")),
  )
  .map((parts) => parts.join(" "));

const headerLine = mostly(
  [
    "Content-Length: 0",
    "Content-Length: 5",
    "Transfer-Encoding: chunked",
    "Content-Type: application/json",
    "Accept: application/json",
    "Accept: text/html",
    "Expect: 100-continue",
    "Connection: close",
    "Connection: upgrade",
    "Upgrade: websocket",
    "Upgrade: h2c",
    "x-forwarded-for: 9.9.9.9",
    "Content-Encoding: gzip",
    "Content-Length: 70000000",
    "Authorization: Bearer x",
    "x-odd: \u00e9",
  ],
  fc.oneof(
    fc.constantFrom(
      "Host: [::bad",
      "Host: a b",
      "Host:",
      "Host: x:99999999",
      "Content-Length: -1",
      "Content-Length: 99999999999999999999",
      "Content-Length: 5, 5",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: identity",
      " folded: yes",
      ": no name",
      "no colon",
    ),
    hostileText.map((value) => `x-odd: ${line(value)}`),
    hostileText.map((name) => `${line(name)}: x`),
  ),
);
const host = mostly(
  ["Host: x"],
  fc.constantFrom("Host: [::bad", "Host: a b", "Host:", "", "Host: \u00e9"),
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
  .tuple(requestLine, host, fc.array(headerLine, { maxLength: 4 }), bodyText)
  .map(([first, name, headers, body]) =>
    Uint8Array.from(Buffer.from(`${[first, name, ...headers].join("\r\n")}\r\n\r\n${body}`)),
  );

const bytes = fc.oneof(
  { weight: 5, arbitrary: whole },
  { weight: 1, arbitrary: damaged(whole) },
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
