import { wrapper } from "./wrap.ts";

/**
 * Handles every request one turn of the event loop after it arrived. Bun closes a connection that sends a request
 * while the previous one has no response (RFC 9112 section 9.3.2 lets it). Without the turn, requests that need no
 * I/O are answered at once, so one connection with pipelined requests would keep all others waiting.
 */
export const noPipelining = wrapper(
  (handle) => (request) =>
    new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          resolve(handle(request));
        } catch (error) {
          reject(error);
        }
      });
    }),
);
