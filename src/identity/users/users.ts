import { type Static, Type } from "@sinclair/typebox";

import type { Clock } from "../../base/clock.ts";
import { type Context, isAdmin, requireAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { bodyReader } from "../../base/validation.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { type Creation, once, reserveKey } from "../idempotency/idempotent.ts";

import { notErased } from "./erasures.ts";
import { emailSchema, nameSchema, storedEmail } from "./fields.ts";
import type { User } from "./user.ts";
import { insertUser, userByEmail, userById, userPages, usersByIds } from "./users.sql.ts";

/** Who may list and make users: any token's bearer, or admins only. */
type UsersAccess = "any" | "admin";

export const createUserSchema = Type.Object(
  {
    name: nameSchema(200, "Grace Hopper"),
    email: { ...emailSchema, examples: ["grace@example.com"] },
  },
  { $id: "CreateUser", description: "A user to make." },
);
type CreateUser = Static<typeof createUserSchema>;

export interface Users {
  /** Newest first. Throws `insufficient-scope` if access is limited to admins. */
  list(ctx: Context, request: PageRequest): Promise<Page<User>>;
  /** Throws `not-found`, `insufficient-scope`. */
  read(ctx: Context, id: string): Promise<User>;
  /** The caller; null for clients and for users that only an external identity provider knows. */
  me(ctx: Context): Promise<User | null>;
  /**
   * The users among `ids` that exist, in any order. If access is limited to admins, other callers find
   * only themselves.
   */
  find(ctx: Context, ids: readonly User["id"][]): Promise<User[]>;
  /**
   * With a key, retries return the original result (`replayed`). Throws `invalid-body`,
   * `email-taken`, `insufficient-scope`, `idempotency-key-reused`.
   */
  create(ctx: Context, body: unknown, idempotencyKey: string | null): Promise<Creation<User>>;
  /**
   * Finds the user with this e-mail address, ignoring case, or makes one with this name. For the command
   * line. Throws `invalid-body`.
   */
  ensureUser(input: CreateUser): Promise<Ensured>;
}

interface Ensured {
  readonly user: User;
  /** False if the user existed already. Its name is unchanged then. */
  readonly isNew: boolean;
}

export function users(storage: Storage, clock: Clock, access: UsersAccess = "any"): Users {
  function requireAccess(ctx: Context): void {
    if (access === "admin") requireAdmin(ctx);
  }

  async function find(id: string): Promise<User> {
    const [user] = await storage.all(userById, { id });
    if (user === undefined) throw new AppError("not-found", "No user has this id");
    return user;
  }

  async function ensure(input: CreateUser): Promise<Ensured> {
    const user = newUser(input, clock.now());
    const [inserted] = await storage.atomically(write(insertUser, user));
    if (inserted.changes > 0) return { user, isNew: true };
    const [found] = await storage.all(userByEmail, { email: user.email });
    if (found === undefined) throw new AppError("unavailable", "Try again");
    return { user: found, isNew: false };
  }

  return {
    async list(ctx, request) {
      requireAccess(ctx);
      return paginate(userPages(storage, {}), request);
    },
    async read(ctx, id) {
      requireAccess(ctx);
      return find(id);
    },
    async me({ actor }) {
      const [user] = await storage.all(userById, { id: actor.id });
      return user ?? null;
    },
    async find(ctx, ids) {
      const mayReadAll = access === "any" || isAdmin(ctx);
      return storage.all(usersByIds, {
        ids: mayReadAll ? ids : ids.filter((id) => id === ctx.actor.id),
      });
    },
    async create(ctx, body, key) {
      requireAccess(ctx);
      const input = readCreateUser(body);
      const now = clock.now();
      const user = newUser(input, now);
      const { actor } = ctx;
      const keyed = { actor, operation: "user", key, input, hashKeys, now: new Date(now) } as const;
      return once(
        storage,
        keyed,
        async () => {
          await storage.atomically(
            write(insertUser, user, emailTaken),
            ...reserveKey(keyed, user.id),
            notErased(ctx),
          );
          return user;
        },
        find,
      );
    },
    ensureUser: (input) => ensure(readCreateUser(input)),
  };
}

/** Not a secret: the database holds the hashed name and address in clear text anyway. */
const hashKeys = () => [Buffer.from("users")] as const;

const emailTaken = new AppError("email-taken", "A user with this e-mail address already exists");

/** The user API answers 400 to every invalid body, even if only a rule is broken. */
const createUserBody = bodyReader(createUserSchema, "invalid-body");

function readCreateUser(body: unknown): CreateUser {
  const { name, email } = createUserBody(body);
  return { name: name.normalize("NFC").trim(), email: storedEmail(email) };
}

function newUser({ name, email }: CreateUser, nowMs: number): User {
  return { id: Bun.randomUUIDv7("hex", nowMs), name, email, createdAt: new Date(nowMs) };
}
