import type { Context } from "../../base/context.ts";

/** What the route passes to graphql-yoga with each request. */
export interface ServerContext {
  readonly requestId: string;
  /** The client's address, which bounds the memory of its large bodies. */
  readonly address: string;
}

/** The context that every resolver receives. One object per request. */
export interface GraphqlContext {
  readonly requestId: string;
  /** The authenticated caller. Throws `authentication-required` for a request without a token. */
  readonly signedIn: () => Context;
}
