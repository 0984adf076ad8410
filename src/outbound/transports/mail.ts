import { AddressError, type Resolve } from "../../base/public-address.ts";

import { type AddressRules, publicAddressesOf } from "./address.ts";

/** A plain-text message. */
export interface EmailMessage {
  /** The same for every attempt, so that mail programs show a repeated message once. */
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly date: Date;
}

/** A mail server, and from whom to whom to send, from the URL of a destination. */
interface Mailbox {
  /** The server with its host in normal form; the scheme is of no meaning. */
  readonly server: URL;
  readonly port: number;
  /** TLS from the first byte (RFC 8314). If false, STARTTLS (RFC 3207). */
  readonly isImplicitTls: boolean;
  readonly login: { readonly user: string; readonly pass: string } | null;
  readonly from: string;
  readonly to: readonly string[];
}

const maxRecipients = 10;
const maxUrlCharacters = 2_000;
const timeoutMs = 10_000;
/** Ports of mail submission and transfer (RFC 5321, RFC 6409, RFC 8314), and a usual alternative. */
const ports = [25, 465, 587, 2525];
const mailAddress = /^[^\s@,;<>"]{1,64}@[^\s@,;<>"]{1,190}$/;
const example = "smtps://user:password@host:465/?from=a@example.com&to=b@example.com";

/** Parses a URL such as `example`, or `smtp:` for STARTTLS. Throws an `AddressError`, which repeats no secret. */
export function mailboxOf(text: string, { allowsPrivate }: AddressRules): Mailbox {
  const url = text.length <= maxUrlCharacters ? URL.parse(text) : null;
  // Only URLs of known schemes have the IP address in their host normalised.
  const server = url === null ? null : URL.parse(`https://${url.host}`);
  const isImplicitTls = url?.protocol === "smtps:";
  if (url === null || server === null || !(isImplicitTls || url.protocol === "smtp:")) {
    throw new AddressError(`The address must be like ${example}`);
  }
  const port = url.port === "" ? (isImplicitTls ? 465 : 587) : Number(url.port);
  if (!ports.includes(port) && !allowsPrivate) {
    throw new AddressError(`Port ${port} is not allowed. Use one of ${ports.join(", ")}.`);
  }
  const from = url.searchParams.get("from") ?? "";
  const to = url.searchParams.getAll("to");
  if (to.length === 0 || to.length > maxRecipients) {
    throw new AddressError(`Name 1 to ${maxRecipients} recipients, each as to=`);
  }
  if (![from, ...to].every((address) => mailAddress.test(address))) {
    throw new AddressError("from= and to= must be e-mail addresses");
  }
  return { server, port, isImplicitTls, login: loginOf(url), from, to };
}

function loginOf({ username, password }: URL): Mailbox["login"] {
  if (username === "") return null;
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    throw new AddressError("The user name and password must be percent-encoded");
  }
}

/** Sends one message. Throws an `AddressError`, or an error of the connection or server. Ends within ten seconds. */
export async function sendMail(
  mailbox: Mailbox,
  message: EmailMessage,
  rules: AddressRules,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<void> {
  const { server, port, isImplicitTls, login, from, to } = mailbox;
  const [address = server.hostname] = rules.allowsPrivate
    ? []
    : await publicAddressesOf(server, resolve);
  // Loaded when the first message is sent.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host: address,
    port,
    secure: isImplicitTls,
    requireTLS: !isImplicitTls && !rules.allowsPrivate,
    // The certificate must be for the name, although the connection goes to an address.
    tls: { servername: server.hostname },
    ...(login !== null && { auth: login }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const tooLate = AbortSignal.timeout(timeoutMs);
  try {
    await transport.sendMail({
      ...message,
      from,
      to: [...to],
      signal: AbortSignal.any([signal, tooLate]),
    });
  } finally {
    transport.close();
  }
}
