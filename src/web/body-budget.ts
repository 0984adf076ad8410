import { AppError } from "../base/errors.ts";
import { subscriber } from "../base/subscriber.ts";

/** Bodies up to this size are always read and do not count. */
export const smallBytes = 64 * 1024;
/** The memory limit for all larger bodies that are being received. */
const maxBytes = 256 * 1024 * 1024;
/** The limit for one client, so that no client can block the others. */
const maxBytesPerClient = 64 * 1024 * 1024;

let allBytes = 0;
const bytesByClient = new Map<string, number>();

/** The memory that one body uses while it is being received. */
export interface Reservation {
  /**
   * Sets the size of the reservation, which must not shrink. Throws `unavailable` if that would exceed
   * the limit for this client or for all clients.
   */
  grow(bytes: number): void;
  release(): void;
}

/** `address` is the client's address. All addresses of an IPv6 /64 share one limit. */
export function reservation(address: string): Reservation {
  const client = subscriber(address);
  let own = 0;

  function set(bytes: number): void {
    const ofClient = (bytesByClient.get(client) ?? 0) + bytes - own;
    allBytes += bytes - own;
    own = bytes;
    if (ofClient === 0) bytesByClient.delete(client);
    else bytesByClient.set(client, ofClient);
  }

  return {
    grow(bytes) {
      // A NaN in the sums would disable the limits until the next restart.
      if (!Number.isSafeInteger(bytes) || bytes < own)
        throw new RangeError(`Invalid size: ${bytes}`);
      if (bytes <= smallBytes) return;
      const more = bytes - own;
      const ofClient = bytesByClient.get(client) ?? 0;
      if (ofClient + more > maxBytesPerClient || allBytes + more > maxBytes) {
        const detail = "Too many large bodies are being received. Try again later.";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      set(bytes);
    },
    release: () => set(0),
  };
}
