import type { Context, Session } from "../../base/context.ts";
import type { Admit } from "../client-address.ts";

/** As `Admit`, for an address or who has a token. */
export interface Work {
  begin(by: string | Session, fields: number): Promise<void>;
}

/** What the route passes to graphql-yoga with each request. */
export interface ServerContext {
  readonly requestId: string;
  /** The client's address, which bounds the memory of its large bodies. */
  readonly address: string;
  /** Null without a token or cookie. Rejects if it is not valid. */
  readonly session: () => Promise<Session | null>;
  readonly admit: Admit;
  /** Counts a write. Throws `too-many-requests`. */
  readonly countWrite: (ctx: Context) => void;
}

/** The context that every resolver receives. One object per request. */
export interface GraphqlContext extends Pick<ServerContext, "requestId" | "admit" | "countWrite"> {
  /** The authenticated caller. Throws `authentication-required` for a request without a token. */
  readonly signedIn: () => Context;
}
