import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { step } from "../storage/sql.ts";
import type { Storage } from "../storage/storage.ts";
import { insertUser, userByEmail } from "../storage/users.ts";

import type { User } from "./user.ts";

export interface Users {
  /**
   * The user of an e-mail address, whatever its case; made when there is none yet. Throws
   * `invalid-parameter` for what cannot be an address or a name.
   */
  ensureUser(input: Pick<User, "email" | "name">): Promise<Ensured>;
}

export interface Ensured {
  readonly user: User;
  /** False when the user was there before; its name is then the one it had. */
  readonly isNew: boolean;
}

export function users(storage: Storage, clock: Clock): Users {
  async function find(email: string): Promise<User | undefined> {
    const [user] = await storage.all(userByEmail, { email });
    return user;
  }
  return {
    async ensureUser({ email, name }) {
      requireEmail(email);
      requireName(name);
      const found = await find(email);
      if (found !== undefined) return { user: found, isNew: false };
      const now = clock.now();
      const user = { id: Bun.randomUUIDv7("hex", now), name, email, createdAt: new Date(now) };
      const [inserted] = await storage.atomically(step(insertUser, user));
      if (inserted.touched > 0) return { user, isNew: true };
      // Someone else made it in this very moment.
      const rival = await find(email);
      if (rival === undefined) throw new AppError("unavailable", "Try again");
      return { user: rival, isNew: false };
    },
  };
}

/** The longest address that mail can be sent to (RFC 5321 section 4.5.3.1.3, erratum 1690). */
const maxEmailLength = 254;
const maxNameLength = 200;

/** Plain enough for any real address: whether it is one, only a mail sent there can tell. */
export function isEmail(text: string): boolean {
  return text.length <= maxEmailLength && /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u.test(text);
}

function requireEmail(email: string): void {
  if (isEmail(email)) return;
  throw invalid("email", `must be an address like ada@example.com, ${maxEmailLength} at most`);
}

function requireName(name: string): void {
  const isFine = name.trim() === name && name.length <= maxNameLength && /^\P{Cc}+$/u.test(name);
  if (isFine) return;
  throw invalid(
    "name",
    `must have 1 to ${maxNameLength} characters, without white space around it`,
  );
}

function invalid(parameter: string, fault: string): AppError {
  const detail = `The ${parameter} ${fault}`;
  return new AppError("invalid-parameter", detail, {
    errors: [{ parameter, code: "invalid", detail }],
  });
}
