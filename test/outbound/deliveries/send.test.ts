import { expect, test } from "bun:test";

import { systemClock } from "../../../src/base/clock.ts";
import { systemResolve } from "../../../src/base/public-address.ts";
import { emptyEvent, type Event } from "../../../src/event/event.ts";
import { sender } from "../../../src/outbound/deliveries/send.ts";
import { destinationRow } from "../../support/rows.ts";
import { serving } from "../../support/serving.ts";

const parts = {
  clock: systemClock,
  privateAllowed: "true",
  resolve: async () => [],
  originalOf: () => Promise.reject(new Error("no original")),
  platform: {},
} as const;

const createdAt = new Date(0);
const event: Event = {
  ...emptyEvent,
  id: "evt_1",
  provider: "task_tracker",
  type: "task.completed",
  status: "accepted",
  idempotencyKey: "task_tracker:1",
  occurredAt: createdAt,
  createdAt,
  title: "Done",
};

const none = new AbortController().signal;
const message = { id: "ntf_1", title: "t", text: "t", url: null, severity: "info" } as const;
const notification = { ...message, createdAt };
const noSecrets = { secret: null, previous: null, headers: {}, tokenUrl: null };

test("an error is one line of at most 500 characters, whatever a mail server says", async () => {
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) =>
        void socket.write(`${"554-\u001b[31m\u202eno \r\n".repeat(1_000)}554 no\r\n`),
      data() {},
    },
  });
  const url = `smtp://127.0.0.1:${server.port}/?from=a@example.com&to=b@example.com`;
  const { send } = sender(parts, destinationRow(1, { format: "email", transport: "smtp" }), {
    ...noSecrets,
    url,
  });
  const { delivered, error } = await send([{ notification, event }], null, none);
  expect(delivered).toBe(false);
  expect(error).toContain("554");
  expect(error?.length).toBeLessThanOrEqual(500);
  expect(error).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
});

const mailTo = "?from=a@example.com&to=b@example.com";

test.each([
  ["true", "slack", "http://no-such-host.invalid/", "host not found"],
  ["false", "slack", "https://no-such-host.invalid/", "host not found"],
  ["true", "email", `smtp://no-such-host.invalid/${mailTo}`, "host not found"],
  ["true", "slack", "http://127.0.0.1:9/", "connection refused"],
  ["false", "slack", "http://127.0.0.1:9/", "DESTINATIONS_ALLOW_PRIVATE"],
  ["false", "slack", "https://127.0.0.1/", "DESTINATIONS_ALLOW_PRIVATE"],
  ["false", "email", `smtp://127.0.0.1/${mailTo}`, "DESTINATIONS_ALLOW_PRIVATE"],
] as const)(
  "with private addresses allowed %p, %s to %s says in words: %s",
  async (privateAllowed, format, url, said) => {
    const { send } = sender(
      { ...parts, clock: systemClock, privateAllowed, resolve: systemResolve },
      destinationRow(1, { format, transport: format === "email" ? "smtp" : "http" }),
      { ...noSecrets, url },
    );
    const { error } = await send([{ notification, event }], null, none);
    expect(error).toContain(said);
    expect(error).not.toContain("getaddrinfo");
  },
);

test.each([
  ["false", null, 0],
  ["false", "ada", 0],
  ["operators", null, 1],
  ["operators", "ada", 0],
  ["true", null, 1],
  ["true", "ada", 1],
] as const)(
  "with private addresses allowed to %p, a destination of %p receives %d [API7-8]",
  async (privateAllowed, ownerId, count) => {
    let received = 0;
    await using server = serving(() => new Response(String((received += 1))));
    const destination = destinationRow(1, { format: "json", ownerId });
    const secrets = { ...noSecrets, url: server.url.href };
    const { send } = sender({ ...parts, privateAllowed }, destination, secrets);
    const { delivered } = await send([{ notification, event }], null, none);
    expect({ delivered, received }).toEqual({ delivered: count === 1, received: count });
  },
);
