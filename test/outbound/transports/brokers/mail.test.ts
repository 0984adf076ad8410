import { describe, expect, test } from "bun:test";

import { systemClock } from "../../../../src/base/clock.ts";
import { AddressError } from "../../../../src/base/public-address.ts";
import { brokers } from "../../../../src/outbound/transports/brokers/brokers.ts";
import { mailboxOf, mailer } from "../../../../src/outbound/transports/brokers/mail.ts";
import type { Message } from "../../../../src/outbound/transports/transport.ts";
import { smtpServer } from "../../../support/smtp-server.ts";

const query = "from=a@example.com&to=b@example.com";
const rules = { allowsPrivate: false };
const allowing = { allowsPrivate: true };

describe("an address is refused", () => {
  test.each([
    "",
    "https://mail.example.com/",
    "smtps://",
    `smtps://mail.example.com:22/?${query}`,
    "smtps://mail.example.com/",
    "smtps://mail.example.com/?from=a@example.com",
    "smtps://mail.example.com/?to=b@example.com",
    "smtps://mail.example.com/?from=a&to=b",
    "smtps://mail.example.com/?from=a@example.com&to=b@example.com,c@example.com",
    "smtps://mail.example.com/?from=a@example.com%0D%0ABcc:x@example.com&to=b@example.com",
    `smtps://mail.example.com/?from=a@example.com${"&to=b@example.com".repeat(11)}`,
    `smtps://%zz:x@mail.example.com/?${query}`,
  ])("%s", (url) => {
    expect(() => mailboxOf(url, rules)).toThrow(AddressError);
  });

  test.each(["smtps://127.0.0.1/", "smtps://2130706433/", "smtp://0x7f.1/", "smtp://[::1]/"])(
    "%s when a message is sent",
    async (server) => {
      const parts = { clock: systemClock, rules, resolve: async () => ["127.0.0.1"], platform: {} };
      const refused = brokers.smtp.connect(`${server}?${query}`, parts).send(message, never);
      expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(AddressError);
    },
  );
});

const never = new AbortController().signal;
const message: Message = {
  id: "ntf_1",
  headers: { subject: "Hi" },
  body: "…\n.\n",
  event: { id: "evt_1", provider: "p", type: "t", createdAt: new Date(0) },
  attributes: null,
  orderKey: null,
};

async function send(mailbox: ReturnType<typeof mailboxOf>, isStrict = false): Promise<void> {
  const place = { rules: isStrict ? rules : allowing, host: "127.0.0.1" };
  await (
    await mailer(mailbox, place)
  )(message);
}

test("sends a message with login and all recipients", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  const url = `smtp://ada%40x:p%3Aw@127.0.0.1:${server.port}/?${query}&to=c@example.com`;
  await send(mailboxOf(url, allowing));
  expect(lines).toContain(`AUTH PLAIN ${btoa("\0ada@x\0p:w")}`);
  expect(lines).toContain("MAIL FROM:<a@example.com>");
  expect(lines).toContain("RCPT TO:<b@example.com>");
  expect(lines).toContain("RCPT TO:<c@example.com>");
  expect(lines).toContain("Message-ID: <ntf_1@example.com>");
  expect(lines).toContain("Auto-Submitted: auto-generated");
});

test("sends nothing without TLS unless private addresses are allowed", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  const mailbox = mailboxOf(`smtp://u:p@127.0.0.1:${server.port}/?${query}`, allowing);
  const strict = { ...mailbox, server: new URL("https://mail.example.com") };
  const failed = send(strict, true);
  expect(await failed.catch((error: unknown) => error)).toBeInstanceOf(Error);
  expect(lines.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
});

test("sends no password without TLS to another machine, even where private addresses are allowed", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  // The same machine under an address that is none of loopback.
  const at = (login: string) => `smtp://${login}[::ffff:127.0.0.1]:${server.port}/?${query}`;
  const failed = send(mailboxOf(at("u:p@"), allowing));
  expect(String(await failed.catch((error: unknown) => error))).toContain("STARTTLS");
  expect(lines.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
  await send(mailboxOf(at(""), allowing));
  expect(lines).toContain("MAIL FROM:<a@example.com>");
});

test("names of people are shown, and cannot add headers", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  const from = encodeURIComponent("Skyhook Bücher <a@example.com>");
  const to = encodeURIComponent('"Ada, Countess" <b@example.com>');
  const url = `smtp://127.0.0.1:${server.port}/?from=${from}&to=${to}`;
  await send(mailboxOf(url, allowing));
  expect(lines).toContain("MAIL FROM:<a@example.com>");
  expect(lines).toContain('To: "Ada, Countess" <b@example.com>');
  expect(lines.find((line) => line.startsWith("From: "))).toMatch(
    /^From: =\?UTF-8\?.* <a@example\.com>$/,
  );
  const bad = url.replace("Skyhook", "%0D%0ABcc:%20x@example.com%0D%0A");
  expect(() => mailboxOf(bad, allowing)).toThrow(AddressError);
});
