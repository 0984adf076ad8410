import type { Clock } from "../../base/clock.ts";
import type { Role } from "../../base/context.ts";
import { makeSecret, sameText, sha256 } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import { isId, type MakeId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import type { AccessToken } from "./access-token.schema.ts";
import type { Client } from "./client.ts";
import { clientById, insertClient } from "./clients.sql.ts";
import type { Tokens } from "./token.ts";

export interface Clients {
  /** Makes a client. Its secret is returned only here and cannot be recovered. */
  add(
    name: string,
    roles: readonly Role[],
  ): Promise<{ readonly client: Client; readonly secret: string }>;
  /** The client with this secret. Throws `authentication-required`. */
  authenticate(id: string, secret: string): Promise<Client>;
  /** Issues a token to a client with the right secret. Throws `authentication-required`. */
  grant(id: string, secret: string): Promise<AccessToken>;
}

const tokenTtlSeconds = 3_600;

export function clients(storage: Storage, tokens: Tokens, clock: Clock, makeId: MakeId): Clients {
  async function authenticate(id: string, secret: string): Promise<Client> {
    const [client] = isId("cli", id) ? await storage.all(clientById, { id }) : [];
    // Compare for an unknown client too, so that response times do not reveal which clients exist.
    const isRight = sameText(sha256(secret), client?.secretHash ?? "");
    if (client !== undefined && isRight) return client;
    const detail = "The client id or secret is wrong";
    throw new AppError("authentication-required", detail, { oauthError: "invalid_client" });
  }

  return {
    async add(name, roles) {
      const now = clock.now();
      const secret = makeSecret();
      const client: Client = {
        id: makeId("cli", now),
        name,
        secretHash: sha256(secret),
        roles,
        createdAt: new Date(now),
      };
      await storage.atomically(write(insertClient, client));
      return { client, secret };
    },
    authenticate,
    async grant(id, secret) {
      const client = await authenticate(id, secret);
      const token = await tokens.mint({ id: client.id, roles: client.roles }, tokenTtlSeconds);
      return { access_token: token, token_type: "Bearer", expires_in: tokenTtlSeconds };
    },
  };
}
