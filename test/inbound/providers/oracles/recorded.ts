import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Deliveries of one service that its oracle accepts: see README.md. */
export interface Recorded {
  readonly provider: string;
  readonly oracle: string;
  /** What confirms them: the service's own SDK or vector, another's SDK, or only the service's documentation. */
  readonly kind: "sdk" | "vector" | "third-party" | "document";
  /** The secret or public key. */
  readonly secret: string;
  /** What the service publishes, by URL: a certificate, or JSON. */
  readonly serves?: Readonly<Record<string, unknown>>;
  readonly deliveries: readonly RecordedDelivery[];
}

export interface RecordedDelivery {
  readonly title: string;
  /** Where a vector is published. */
  readonly source?: string;
  /** Of a vector, if it is not that of the service's other deliveries. */
  readonly secret?: string;
  /** The service's name of the event. */
  readonly event?: string;
  /** The expected answer, if it tests the URL. */
  readonly handshake?: { readonly status: number; readonly body: string };
  /** The time at which the oracle accepts it. */
  readonly at: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function recordedDeliveries(provider: string): Recorded {
  const file = join(import.meta.dir, "fixtures", `${provider}.json`);
  // Guarantee: the tests of the catalogue read these fields of each file.
  return JSON.parse(readFileSync(file, "utf8")) as Recorded;
}
