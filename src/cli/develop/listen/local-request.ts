import { type JsonObject, objectAt, textAt } from "../../../base/payload.ts";
import type { Provider } from "../../../inbound/providers/provider.ts";
import {
  type DevelopmentSecret,
  developmentSecret,
} from "../../../inbound/signatures/development-secret.ts";

/** A delivery as received from the server. */
export interface ReceivedDelivery {
  readonly id: string;
  readonly provider: string;
  readonly type: string;
  /** Stored headers by lower-case name. The server stores no signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if retention deleted it. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** Null if it is not a delivery. */
export function deliveryIn(event: JsonObject): ReceivedDelivery | null {
  const [id, provider, type] = ["id", "provider", "type"].map((name) => textAt(event, name));
  if (!id || !provider || !type) return null;
  const { body, bodyEncoding } = event;
  const headers = Object.entries(objectAt(event, "receipt", "headers")).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const encoding = bodyEncoding === "base64" ? "base64" : "utf-8";
  const bytes = typeof body === "string" ? new Uint8Array(Buffer.from(body, encoding)) : null;
  return { id, provider, type, headers: Object.fromEntries(headers), bytes };
}

/** A throwaway secret for a provider, or null if only the service can sign. */
export function throwawaySecret({ signature, secretPrefix }: Provider): DevelopmentSecret | null {
  return developmentSecret(signature, secretPrefix);
}
