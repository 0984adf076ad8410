import fc from "fast-check";

import { type Interface, interfaces } from "../../harness/requests.ts";
import type { Role } from "../app-world.ts";
import { compareStates } from "../compare.ts";
import type { Model } from "../model.ts";
import { tokenSkewMs } from "../rules.ts";
import type { Refusal, Server } from "../server.ts";

export type ModelCommand = fc.AsyncCommand<Model, Server>;

/** Any of the actions of a kind on both server and model, after which they must be equal. */
export const command = <Args>(
  name: string,
  anyArgs: fc.Arbitrary<Args>,
  run: (args: Args, model: Model, server: Server) => Promise<void>,
  check: (model: Readonly<Model>, args: Args) => boolean = () => true,
): fc.Arbitrary<ModelCommand> =>
  anyArgs.map((args) => ({
    check: (model) => check(model, args),
    async run(model, server) {
      await run(args, model, server);
      server.count("command");
      await compareStates(model, server);
    },
    toString: () => `${name}(${JSON.stringify(args).replaceAll('"', "").slice(1, -1)})`,
  }));

export const anyDoor = fc.constantFrom<Interface>(...interfaces);
/** An index into a list; small, so that items repeat. */
export const anyOne = fc.nat(11);
/** Few keys, so that they repeat. */
export const anyKey = fc.option(fc.constantFrom("k1", "k2"), { freq: 2 });

type TokenChoice = "fresh" | "kept" | "none";
export const anyToken = fc.oneof(
  { weight: 8, arbitrary: fc.constant<TokenChoice>("fresh") },
  { weight: 2, arbitrary: fc.constant<TokenChoice>("kept") },
  { weight: 1, arbitrary: fc.constant<TokenChoice>("none") },
);

/** A token and its expected error; null if it is valid. */
export interface Access {
  readonly token: string | null;
  readonly refusal: Refusal | null;
}

export async function accessOf(
  { keptTokens }: Model,
  server: Server,
  userId: string,
  choice: TokenChoice,
  role: Role = "user",
): Promise<Access> {
  if (choice === "none") {
    return { token: null, refusal: { status: 401, code: "authentication-required" } };
  }
  const kept = choice === "kept" && role === "user" ? keptTokens.get(userId) : undefined;
  if (kept === undefined) return { token: await server.mint(userId, role, 60), refusal: null };
  const isOver = server.clock.now() >= kept.expiresMs + tokenSkewMs;
  return { token: kept.token, refusal: isOver ? { status: 401, code: "invalid-token" } : null };
}
