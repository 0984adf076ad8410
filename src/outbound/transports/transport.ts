import type { Clock } from "../../base/clock.ts";

import type { AddressRules, LookupParts } from "./address.ts";

/** What a message system carries: body and headers are those of the HTTP request, byte for byte. */
export interface Message {
  /** The same for every attempt. */
  readonly id: string;
  /** By lower-case HTTP name, `content-type` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly event: {
    readonly id: string;
    readonly provider: string;
    readonly type: string;
    readonly createdAt: Date;
  };
  /** The attributes of the event as a CloudEvent, for binary mode; null if the body is a CloudEvent itself. */
  readonly attributes: Readonly<Record<string, string>> | null;
  /** Messages with the same key keep their order. Null: in any order. */
  readonly orderKey: string | null;
}

/** The system did not confirm a message. The text is shown to operators. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  /** The HTTP status, where the system is reached by HTTP. */
  readonly status: number | null;
  /** Whether no retry can succeed, such as for a message that is too large. */
  readonly isFinal: boolean;
  readonly retryAfterMs: number | null;

  constructor(message: string, options: ErrorOptions & Partial<TransportError> = {}) {
    super(message, options);
    this.status = options.status ?? null;
    this.isFinal = options.isFinal ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** A connection to one destination, shared by the messages that are sent at the same time. */
export interface Connection {
  /**
   * Resolves once the system has confirmed the message, as docs/guarantees.md says for each. Throws a `TransportError`,
   * or an `AddressError`. Ends within ten seconds, or when `signal` aborts.
   */
  send(message: Message, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface ConnectionParts extends LookupParts {
  readonly clock: Clock;
  readonly platform: Platform;
}

/** The variables of the environment in which a platform says where this server gets credentials. */
export type Platform = Readonly<Record<string, string | undefined>>;

/** A server of a message system; the scheme of its URL is of no meaning. */
export interface Endpoint {
  readonly server: URL;
  readonly port: number;
}

/** The server of an HTTP URL. */
export function endpointOf(server: URL): Endpoint {
  const usual = server.protocol === "http:" ? 80 : 443;
  return { server, port: server.port === "" ? usual : Number(server.port) };
}

export interface Transport {
  /** Returns the server that an address names. Throws an `AddressError` that repeats no secret. */
  readonly check: (address: string, rules: AddressRules) => Endpoint;
  /** Opens nothing before the first message. */
  connect(address: string, parts: ConnectionParts): Connection;
}

export interface Opening {
  readonly rules: AddressRules;
  /** The name or the checked IP address to connect to. */
  readonly host: string;
  /** Call it when the connection breaks. */
  readonly fail: (error: unknown) => void;
}

/** Resolves when the system has confirmed. Throws a `TransportError` if the connection can still be used. */
export type SendMessage = (message: Message) => Promise<void>;

/** A message system that is reached by a library. It runs on a thread, because any server may answer there. */
export interface System extends Pick<Transport, "check"> {
  /** The first answer begins with one of these characters. */
  readonly firstBytes: string;
  /** Opens a connection, which ends with its thread. */
  open(address: string, opening: Opening): Promise<SendMessage>;
}

/** The text or bytes of a body. */
export function bytesOf(body: Message["body"]): Uint8Array<ArrayBuffer> {
  return typeof body === "string" ? new Uint8Array(Buffer.from(body)) : body;
}
