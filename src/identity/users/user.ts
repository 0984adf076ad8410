import { defineTable } from "../../db/table.ts";

/** A person or program that can hold a token. */
export interface User {
  /** A UUID (RFC 9562). */
  readonly id: string;
  readonly name: string;
  /** Unique without regard to case. */
  readonly email: string;
  readonly createdAt: Date;
}

export const usersTable = defineTable<User>("users", {
  id: "text",
  name: "text",
  email: "text",
  createdAt: "instant",
});
