import { AppError } from "../../base/errors.ts";
import { subscriber } from "../../base/subscriber.ts";

/** Bodies up to this size take nothing of the budget: what is short is always read. */
export const smallBytes = 64 * 1024;
/** What all larger bodies that are being received may take of the memory together. */
const maxBytes = 256 * 1024 * 1024;
/** What those of one client may take, so that one cannot keep the others out. */
const maxBytesPerClient = 64 * 1024 * 1024;

let allBytes = 0;
const bytesByClient = new Map<string, number>();

/** The memory that one body takes while it is being received. */
export interface Reservation {
  /**
   * Takes as much as the body needs from now on, in bytes. Throws `unavailable` when less than that is
   * left, for this client or for all.
   */
  grow(bytes: number): void;
  release(): void;
}

/** `address` is the client's; IPv6 addresses count by /64. */
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
      // One NaN in the sums would turn the budget off until the next start.
      if (!Number.isSafeInteger(bytes) || bytes < own) throw new RangeError(`No size: ${bytes}`);
      if (bytes <= smallBytes) return;
      const more = bytes - own;
      const ofClient = bytesByClient.get(client) ?? 0;
      if (ofClient + more > maxBytesPerClient || allBytes + more > maxBytes) {
        const detail = "Too many large bodies are being received; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      set(bytes);
    },
    release: () => set(0),
  };
}
