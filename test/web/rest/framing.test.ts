import { beforeAll, describe, expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { at } from "../../../src/base/payload.ts";
import { json, sample, signed, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { postQuery } from "../../support/graphql.ts";
import { RawClient } from "../../support/raw-client.ts";
import { listeningForAll } from "../../support/running-app.ts";

// Bun answers 400 itself to some framings, after it has passed on the request.

const server = listeningForAll();
const { app } = server;
let flightId: number;
beforeAll(async () => {
  ({ id: flightId } = await addFlight(app, { seats: 500 }));
});

interface Kind {
  readonly path: string;
  /** The sender, who may read the list of what it makes. */
  readonly role: Role;
  /** The list of what it makes. */
  readonly list: string;
  readonly make: () => RequestInit;
}

const email = () => `${crypto.randomUUID()}@example.com`;
const kinds: Readonly<Record<string, Kind>> = {
  "a webhook": {
    path: "/webhooks/task_tracker",
    role: "operator",
    list: "/v1/events",
    make() {
      const { headers, body } = sample("task_tracker", "task.created", app.clock);
      return signed("task_tracker", JSON.stringify(body), app.clock, { headers });
    },
  },
  "a large webhook": {
    path: "/webhooks/task_tracker",
    role: "operator",
    list: "/v1/events",
    make() {
      const { headers, body } = sample("task_tracker", "task.created", app.clock);
      const padded = { ...body, padding: "x".repeat(200_000) };
      return signed("task_tracker", JSON.stringify(padded), app.clock, { headers });
    },
  },
  "a booking": {
    path: "/v1/api/bookings",
    role: "user",
    list: "/v1/api/bookings",
    make: () => post(bookingBody(flightId)),
  },
  "a user": {
    path: "/v1/users",
    role: "admin",
    list: "/v1/users",
    make: () => post({ name: "Ada", email: email() }),
  },
  "a mutation": {
    path: "/graphql",
    role: "admin",
    list: "/v1/users",
    make() {
      const query = "mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }";
      return postQuery(query, { input: { name: "Ada", email: email() } });
    },
  },
};

/** The head without its framing, and the body. */
interface Parts {
  readonly head: string;
  readonly body: string;
}

const lengthOf = ({ head, body }: Parts) =>
  `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
const chunked = ({ head }: Parts) => `${head}Transfer-Encoding: chunked\r\n\r\n`;
const chunk = ({ body }: Parts, extension = "") =>
  `${Buffer.byteLength(body).toString(16)}${extension}\r\n${body}\r\n`;
const whole = (parts: Parts) => lengthOf(parts) + parts.body;

type Answer = "2xx" | "400" | "closed";

/** What each framing is answered with, and its packets: each is sent when the server has read the one before. */
const framings: readonly (readonly [
  name: string,
  Answer,
  packets: (parts: Parts) => readonly string[],
])[] = [
  ["Content-Length", "2xx", (parts) => [whole(parts)]],
  ["the body after the head", "2xx", (parts) => [lengthOf(parts), parts.body]],
  ["a chunk", "2xx", (parts) => [`${chunked(parts)}${chunk(parts)}0\r\n\r\n`]],
  ["a chunk after the head", "2xx", (parts) => [chunked(parts), `${chunk(parts)}0\r\n\r\n`]],
  ["the last chunk alone", "2xx", (parts) => [`${chunked(parts)}${chunk(parts)}`, "0\r\n\r\n"]],
  ["an extension", "2xx", (parts) => [`${chunked(parts)}${chunk(parts, ";a=b")}0\r\n\r\n`]],
  // RFC 9112 section 7.1.1 allows quotes, section 7.1.2 trailers; section 2.2 has servers ignore line breaks.
  [
    "a quoted extension",
    "400",
    (parts) => [`${chunked(parts)}${chunk(parts, ';a="b c"')}0\r\n\r\n`],
  ],
  ["a trailer", "400", (parts) => [`${chunked(parts)}${chunk(parts)}0\r\nX-Sum: a\r\n\r\n`]],
  ["a late trailer", "400", (parts) => [chunked(parts) + chunk(parts), "0\r\nX-Sum: a\r\n\r\n"]],
  [
    "CRLF after the last chunk",
    "400",
    (parts) => [`${chunked(parts)}${chunk(parts)}0\r\n\r\n\r\n`],
  ],
  ["CRLF after the body", "400", (parts) => [`${whole(parts)}\r\n`]],
  ["LF after the body", "400", (parts) => [`${whole(parts)}\n`]],
  ["text after the body", "400", (parts) => [`${whole(parts)}and more\r\n\r\n`]],
  ["CRLF after a late body", "400", (parts) => [lengthOf(parts), `${parts.body}\r\n`]],
  [
    "a chunk without its end",
    "400",
    (parts) => [`${chunked(parts)}${chunk(parts).trimEnd()}x0\r\n`],
  ],
  [
    "a chunk size that is none",
    "400",
    (parts) => [`${chunked(parts)}${chunk(parts)}x\r\n0\r\n\r\n`],
  ],
  ["CRLF before the request", "400", (parts) => [`\r\n${whole(parts)}`]],
  [
    "another request",
    "closed",
    (parts) => [`${whole(parts)}GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`],
  ],
];

const token = (role: Role) =>
  app.services.tokens.mint({ id: `test-${role}`, roles: [role] }, 3_600);

async function partsOf({ path, role, make }: Kind): Promise<Parts> {
  const { headers, body } = make();
  const all = new Headers(headers);
  if (path !== "/webhooks/task_tracker") all.set("authorization", `Bearer ${await token(role)}`);
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    head: `POST ${path} HTTP/1.1\r\nHost: x\r\n${lines.join("")}`,
    body: await new Response(body ?? null).text(),
  };
}

async function counted({ list, role }: Kind): Promise<number> {
  const answer = await app.as(role, `${list}?limit=1&include=total`);
  const count = Number(
    at(await answer.json(), "pagination", "total") ?? answer.headers.get("x-total-count"),
  );
  if (Number.isNaN(count)) throw new Error("The list has no total");
  return count;
}

/** Sends the packets on a connection of its own. Returns the status of the first answer, if any. */
async function answerTo(packets: readonly string[]): Promise<string> {
  using client = await RawClient.connect(server.url);
  for (const [index, packet] of packets.entries()) {
    if (index > 0) await until(() => (app.app.server?.pendingRequests ?? 0) > 0);
    await client.send(packet);
  }
  await until(() => client.ended || client.received.includes("\r\n\r\n"));
  return /^HTTP\/1\.1 (\d{3}) /.exec(client.received)?.[1] ?? "closed";
}

describe.each(Object.entries(kinds))("%s", (_, kind) => {
  test.each(framings)(
    "framed with %s is answered %s, and that is what happened",
    async (_, expected, packets) => {
      const before = await counted(kind);
      const status = await answerTo(packets(await partsOf(kind)));
      expect(status.replace(/^2../, "2xx")).toBe(expected);
      // A request that comes later, and is stored later.
      expect(await answerTo([whole(await partsOf(kind))])).toStartWith("2");
      expect(await counted(kind)).toBe(before + (expected === "2xx" ? 2 : 1));
    },
  );
});

describe("a cancellation", () => {
  test.each([
    ["nothing", "200", ""],
    ["CRLF", "400", "\r\n"],
    ["another request", "closed", "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("followed by %s is answered %s, and that is what happened", async (_, expected, more) => {
    const made = await app.as("user", "/v1/api/bookings", post(bookingBody(flightId)));
    const path = `/v1/api/bookings/${String((await json(made))["bookingId"])}`;
    const head = `DELETE ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await token("user")}\r\n\r\n`;
    expect(await answerTo([head + more])).toBe(expected);
    await answerTo(["GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"]);
    const { status } = await json(await app.as("user", path));
    expect(status).toBe(expected === "200" ? "cancelled" : "confirmed");
  });
});

test("a webhook whose sender closes the connection without reading the answer is stored", async () => {
  const kind = kinds["a webhook"];
  if (kind === undefined) throw new Error("No webhook");
  const before = await counted(kind);
  const client = await RawClient.connect(server.url);
  await client.send(whole(await partsOf(kind)));
  client.halfClose();
  await until(() => client.ended);
  await until(async () => (await counted(kind)) === before + 1);
});
