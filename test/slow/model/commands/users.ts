import fc from "fast-check";

import { at } from "../../../support/graphql.ts";
import { createUser as createUserBy, type Interface } from "../../harness/requests.ts";
import { keyRecord, type Model, pick } from "../model.ts";
import { iso } from "../rules.ts";
import { ask, type Refusal, same, sameOutcome, type Server } from "../server.ts";
import { userFields, userView } from "../views.ts";

import { accessOf, anyDoor, anyKey, anyOne, anyToken, command } from "./command.ts";

const mostUsers = 6;
const spellings = [
  (email: string) => email,
  (email: string) => email.toUpperCase(),
  (email: string) => email.replace(/^./, (first) => first.toUpperCase()),
];

interface UserInput {
  readonly name: string;
  readonly email: string;
}

export async function addUser(
  model: Model,
  server: Server,
  asking: {
    readonly userId: string;
    readonly token: string | null;
    readonly refusal: Refusal | null;
  },
  door: Interface,
  input: UserInput,
  key: string | null,
): Promise<void> {
  const nowMs = server.clock.now();
  const place = key === null ? null : { operation: "user" as const, userId: asking.userId, key };
  const record = place === null ? undefined : keyRecord(model, place, nowMs);
  const refusal = asking.refusal ?? refusalOf(model, input, record?.input);
  const answer = await ask(server, asking.token, door, createUserBy(input, key, userFields));
  const what = record === undefined ? "create user" : "create user under a known key";
  sameOutcome(server, what, answer, refusal);
  if (refusal !== null) return;
  const first = model.users.find(({ id }) => id === record?.madeId);
  if (first !== undefined) return same("user made before", answer.body, userView(first));
  const id = String(at(answer.body, "id"));
  same("user", answer.body, { id, ...input, createdAt: iso(nowMs) });
  same(
    "a user's id is new",
    model.users.some((user) => user.id === id),
    false,
  );
  model.users.push({ id, ...input, createdMs: nowMs });
  if (place !== null) model.keys.push({ ...place, input, madeId: id, atMs: nowMs });
}

function refusalOf({ users }: Model, input: UserInput, keyed: unknown): Refusal | null {
  if (keyed !== undefined) {
    const isEqual = JSON.stringify(keyed) === JSON.stringify(input);
    return isEqual ? null : { status: 422, code: "idempotency-key-reused" };
  }
  const isTaken = users.some(({ email }) => email.toLowerCase() === input.email.toLowerCase());
  return isTaken ? { status: 409, code: "email-taken" } : null;
}

export const createUser = command(
  "CreateUser",
  fc.record({
    who: anyOne,
    address: fc.nat(mostUsers),
    spelling: fc.nat(spellings.length - 1),
    key: anyKey,
    token: anyToken,
    door: anyDoor,
  }),
  async (args, model, server) => {
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const access = await accessOf(model, server, userId, args.token);
    const spell = spellings[args.spelling] ?? String;
    const known = pick(model.users, args.address)?.email;
    // With enough users, only existing ones register again.
    const isFull = known !== undefined && model.users.length >= mostUsers;
    const email = spell(isFull ? known : `user${args.address}@example.com`);
    const asking = { userId, ...access };
    await addUser(model, server, asking, args.door, { name: "Ada", email }, args.key);
  },
);
