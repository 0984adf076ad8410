import { connectionError, errorMessage } from "../../../base/errors.ts";
import { isLoopback } from "../../../base/loopback.ts";
import { AddressError } from "../../../base/public-address.ts";
import type { AddressRules } from "../address.ts";
import { type Opening, type SendMessage, type System, TransportError } from "../transport.ts";

import { type BrokerAddress, parsedAddress } from "./broker-address.ts";

/**
 * A mail server, and from whom to whom to send, from the URL of a destination. `isTls`: TLS from the first byte
 * (RFC 8314); if false, STARTTLS (RFC 3207).
 */
interface Mailbox extends BrokerAddress {
  readonly from: Address;
  readonly to: readonly Address[];
}

interface Address {
  /** Empty without one. */
  readonly name: string;
  readonly address: string;
}

const maxRecipients = 10;
const timeoutMs = 10_000;
/** Ports of mail submission and transfer (RFC 5321, RFC 6409, RFC 8314), and a usual alternative. */
const ports = [25, 465, 587, 2525];
const mailAddress = /^[^\s@,;<>"\p{Cc}]{1,64}@[^\s@,;<>"\p{Cc}]{1,190}$/u;
/** `Skyhook <a@example.com>`, or the address alone. */
const namedAddress = /^(?:"?([^"<>\p{Cc}]{0,100}?)"?\s*<([^<>]+)>|([^<>]+))$/u;
const example = "smtps://user:password@host:465/?from=a@example.com&to=b@example.com";

export const mail: System = {
  // Digits of RFC 5321, section 4.2.1.
  firstBytes: "2345",
  check: mailboxOf,
  open: (text, opening) => mailer(mailboxOf(text, opening.rules), opening),
};

/** Parses a URL such as `example`, or `smtp:` for STARTTLS. Throws an `AddressError`, which repeats no secret. */
export function mailboxOf(text: string, { allowsPrivate }: AddressRules): Mailbox {
  const shape = { schemes: ["smtps", "smtp"], ports: [465, 587], example } as const;
  const address = parsedAddress(text, shape);
  const { port, query } = address;
  if (!ports.includes(port) && !allowsPrivate) {
    throw new AddressError(`Port ${port} is not allowed. Use one of ${ports.join(", ")}.`);
  }
  const from = addressOf(query.get("from") ?? "");
  const to = query.getAll("to").map(addressOf);
  if (to.length === 0 || to.length > maxRecipients) {
    throw new AddressError(`Name 1 to ${maxRecipients} recipients, each as to=`);
  }
  return { ...address, from, to };
}

function addressOf(text: string): Address {
  const [, name = "", named, alone = ""] = namedAddress.exec(text.trim()) ?? [];
  const address = (named ?? alone).trim();
  if (mailAddress.test(address)) return { name: name.trim(), address };
  throw new AddressError(
    "from= and to= must be e-mail addresses, such as Skyhook <a@example.com>, percent-encoded",
  );
}

/** In ASCII (RFC 3490): header fields have no other characters. */
function domainOf({ address }: Address): string {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return URL.parse(`https://${domain}`)?.hostname ?? "localhost";
}

/** Without TLS, nothing leaves the own network, and no password the machine. */
function mayBeClear({ server, user }: Mailbox, { allowsPrivate }: AddressRules): boolean {
  return allowsPrivate && (user === "" || isLoopback(server.href));
}

/** Sends plain-text messages: each by a connection of its own, its subject in the headers. */
export async function mailer(
  mailbox: Mailbox,
  { rules, host }: Pick<Opening, "rules" | "host">,
): Promise<SendMessage> {
  const { server, port, isTls, user, password, from, to } = mailbox;
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    // A name server must not say where this machine is.
    host: host === "localhost" ? "127.0.0.1" : host,
    port,
    secure: isTls,
    requireTLS: !isTls && !mayBeClear(mailbox, rules),
    // The certificate must be for the name, although the connection goes to an address.
    tls: { servername: server.hostname },
    ...(user !== "" && { auth: { user, pass: password } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ id, headers: { subject = "" }, body, event }) => {
    const content = {
      subject,
      text: String(body),
      date: event.createdAt,
      // Mail programs show a repeated message once.
      messageId: `<${id}@${domainOf(from)}>`,
      // No vacation reply answers it (RFC 3834 section 5).
      headers: { "auto-submitted": "auto-generated" },
    };
    try {
      await transport.sendMail({ ...content, from, to: [...to] });
    } catch (error) {
      throw new TransportError(connectionError(error) ?? errorMessage(error), { cause: error });
    }
  };
}
