import type { PlaceSource } from "../../base/place.ts";
import type { Acknowledgement } from "../model/webhook-request.ts";

/** A request by which a service tests the URL, before it sends events or while it does. */
export interface Handshake {
  /** A HEAD is answered as the GET would be, without its body (RFC 9110 section 9.3.2). */
  readonly method: "GET" | "HEAD" | "POST";
  /**
   * `unsigned`: the service does not sign it. The others are answered only if they verify. `stored`: it is an event too, and this is its
   * answer.
   */
  readonly kind: "signed" | "unsigned" | "stored";
  /** Whether the answer signs a challenge of anyone. Such a challenge is never accepted as a body. */
  readonly signsChallenge: boolean;
  readonly matches: (source: PlaceSource) => boolean;
  /** Null if a value that must be echoed is missing, too long or not allowed there. */
  readonly answer: (source: PlaceSource, secret: string | null) => HandshakeAnswer | null;
  /** The secret that the service sends; null if it sends none. */
  readonly secretIn: (source: PlaceSource) => string | null;
  /** The URL to fetch as a confirmation, or null. */
  readonly confirmUrl: ((source: PlaceSource) => ConfirmUrl) | null;
}

/** `hosts`: the only ones that are fetched from. */
export interface ConfirmUrl {
  readonly url: string | null;
  readonly hosts: readonly string[];
}

const maxChallengeLength = 100;

/** What the answer to an unsigned handshake may sign: never an object, an array or a form with a value. */
export const challengePattern = new RegExp(`^[A-Za-z0-9_-]{1,${maxChallengeLength}}$`);

/** Whether anyone could have had the body signed as a challenge. */
export function isChallenge(body: Uint8Array): boolean {
  if (body.length > maxChallengeLength) return false;
  return challengePattern.test(Buffer.from(body).toString("latin1"));
}

export interface HandshakeAnswer {
  /** The event, if it is one. */
  readonly stored?: Acknowledgement;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
