import { isIP } from "node:net";

import { AddressError, requireUsualPort } from "../../../base/public-address.ts";
import {
  addressLookup,
  type AddressRules,
  decodePart,
  type LookupParts,
  requirePublicHost,
} from "../address.ts";
import type { Endpoint, Message } from "../transport.ts";

/** A message system, from the URL of a destination. */
export interface BrokerAddress extends Endpoint {
  readonly isTls: boolean;
  /** Either may be empty. */
  readonly user: string;
  readonly password: string;
  /** Decoded, without the first slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What the URLs of a message system are like. */
interface Shape {
  /** With TLS, and without, for private networks. */
  readonly schemes: readonly [secure: string, plain: string];
  readonly ports: readonly [secure: number, plain: number];
  readonly example: string;
}

const maxUrlCharacters = 2_000;

/** Parses the URL of a destination. Throws an `AddressError`, which repeats no secret. */
export function brokerAddress(text: string, shape: Shape, rules: AddressRules): BrokerAddress {
  const address = parsedAddress(text, shape);
  const [secure, plain] = shape.schemes;
  if (!address.isTls && !rules.allowsPrivate) {
    throw new AddressError(
      `The URL must start with ${secure}://. Set DESTINATIONS_ALLOW_PRIVATE to allow ${plain}.`,
    );
  }
  requireUsualPort(address.server);
  requirePublicHost(address.server, rules);
  return address;
}

/** As `brokerAddress`, without checks of the server. */
export function parsedAddress(
  text: string,
  { schemes: [secure, plain], ports: [securePort, plainPort], example }: Shape,
): BrokerAddress {
  const url = text.length <= maxUrlCharacters ? URL.parse(text) : null;
  // Only URLs of known schemes have the IP address in their host normalised.
  const server = url === null ? null : URL.parse(`https://${url.host}`);
  const isTls = url?.protocol === `${secure}:`;
  if (url === null || server === null || !(isTls || url.protocol === `${plain}:`)) {
    throw new AddressError(`The URL must be like ${example}`);
  }
  const port = url.port === "" ? (isTls ? securePort : plainPort) : Number(url.port);
  return {
    server,
    port,
    isTls,
    user: decodePart(url.username),
    password: decodePart(url.password),
    path: decodePart(url.pathname.slice(1)),
    query: url.searchParams,
  };
}

/** A parameter that the address must have. Throws an `AddressError`. */
export function required(query: URLSearchParams, name: string, example: string): string {
  const value = query.get(name) ?? "";
  if (value === "") throw new AddressError(`The URL must have ${name}=, like ${example}`);
  return value;
}

/** The host to connect to: the name, or the address that was checked. */
export async function hostToConnect({ server }: Endpoint, parts: LookupParts): Promise<string> {
  const [address] = (await addressLookup(parts)(server)) ?? [server.hostname];
  return address.replace(/^\[(.*)\]$/, "$1");
}

/** For the certificate, which is for the name although the connection goes to an address (RFC 6066 allows no IP address). */
export function serverName({ server }: BrokerAddress): { readonly servername?: string } {
  return isIP(server.hostname) === 0 && !server.hostname.startsWith("[")
    ? { servername: server.hostname }
    : {};
}

const places = ["provider", "type", "id", "date"] as const;

/** Throws an `AddressError` if a name such as `{provider}` in a text is not one of those that messages have. */
export function requirePlaces(text: string): void {
  for (const [, name = ""] of text.matchAll(/\{([^{}]*)\}/g)) {
    if (places.some((place) => place === name)) continue;
    throw new AddressError(
      `There is no {${name}}. Use ${places.map((place) => `{${place}}`).join(", ")}.`,
    );
  }
}

/** Fills in the values of a message. Characters that mean something to message systems become `_`. */
export function fillIn(text: string, { id, event }: Message): string {
  const values: Readonly<Record<string, string>> = {
    provider: event.provider,
    type: event.type,
    id,
    date: event.createdAt.toISOString().slice(0, "2026-12-31".length),
  };
  return text.replaceAll(/\{([a-z]+)\}/g, (_, name: string) =>
    (values[name] ?? "").replaceAll(/[^A-Za-z0-9_.-]/g, "_"),
  );
}
