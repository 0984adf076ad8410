import { describe, expect, test } from "bun:test";

import { AddressError } from "../../../src/base/public-address.ts";
import { mailboxOf, sendMail } from "../../../src/outbound/transports/mail.ts";

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
      const mailbox = mailboxOf(`${server}?${query}`, rules);
      const refused = sendMail(mailbox, message, rules, async () => ["127.0.0.1"], never);
      expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(AddressError);
    },
  );
});

const never = new AbortController().signal;
const message = {
  id: "ntf_1",
  subject: "Hi",
  text: "…\n.\n",
  date: new Date(0),
};

test("sends a message with login and all recipients", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  const url = `smtp://ada%40x:p%3Aw@127.0.0.1:${server.port}/?${query}&to=c@example.com`;
  await sendMail(mailboxOf(url, allowing), message, allowing, async () => [], never);
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
  const failed = sendMail(strict, message, rules, async () => ["127.0.0.1"], never);
  expect(await failed.catch((error: unknown) => error)).toBeInstanceOf(Error);
  expect(lines.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
});

test("sends no password without TLS to another machine, even where private addresses are allowed", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  // The same machine under an address that is none of loopback.
  const at = (login: string) => `smtp://${login}[::ffff:127.0.0.1]:${server.port}/?${query}`;
  const failed = sendMail(
    mailboxOf(at("u:p@"), allowing),
    message,
    allowing,
    async () => [],
    never,
  );
  expect(String(await failed.catch((error: unknown) => error))).toContain("STARTTLS");
  expect(lines.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
  await sendMail(mailboxOf(at(""), allowing), message, allowing, async () => [], never);
  expect(lines).toContain("MAIL FROM:<a@example.com>");
});

test("names of people are shown, and cannot add headers", async () => {
  const lines: string[] = [];
  using server = smtpServer(lines);
  const from = encodeURIComponent("Skyhook Bücher <a@example.com>");
  const to = encodeURIComponent('"Ada, Countess" <b@example.com>');
  const url = `smtp://127.0.0.1:${server.port}/?from=${from}&to=${to}`;
  await sendMail(mailboxOf(url, allowing), message, allowing, async () => [], never);
  expect(lines).toContain("MAIL FROM:<a@example.com>");
  expect(lines).toContain('To: "Ada, Countess" <b@example.com>');
  expect(lines.find((line) => line.startsWith("From: "))).toMatch(
    /^From: =\?UTF-8\?.* <a@example\.com>$/,
  );
  const bad = url.replace("Skyhook", "%0D%0ABcc:%20x@example.com%0D%0A");
  expect(() => mailboxOf(bad, allowing)).toThrow(AddressError);
});

/** A mail server without TLS that accepts everything and records what it receives. */
function smtpServer(lines: string[]) {
  const replies: readonly (readonly [RegExp, string])[] = [
    [/^EHLO/, "250-test\r\n250 AUTH PLAIN\r\n"],
    [/^STARTTLS/, "502 no\r\n"],
    [/^AUTH/, "235 ok\r\n"],
    [/^DATA$/, "354 go on\r\n"],
    [/^(?:MAIL|RCPT|\.$)/, "250 ok\r\n"],
    [/^QUIT/, "221 bye\r\n"],
  ];
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void socket.write("220 test\r\n"),
      data(socket, bytes) {
        for (const line of bytes.toString().split("\r\n").filter(Boolean)) {
          lines.push(line);
          const reply = replies.find(([pattern]) => pattern.test(line))?.[1];
          if (reply !== undefined) socket.write(reply);
        }
      },
    },
  });
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) };
}
