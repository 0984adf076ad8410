import type { AnyElysia } from "elysia";

export type Handle = (request: Request) => Response | Promise<Response>;

/** The argument of Elysia's `wrap`. */
type HigherOrder = Parameters<AnyElysia["wrap"]>[0];

/** Turns a function that replaces the handler of all requests into the argument of Elysia's `wrap`. */
export function wrapper(replace: (handle: Handle) => Handle): HigherOrder {
  // Guarantee: Elysia passes its request handler and calls the returned function with the request only.
  // Elysia's type for both is `Function`.
  return replace as unknown as HigherOrder;
}
