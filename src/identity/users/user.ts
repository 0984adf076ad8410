import { type Static, Type } from "@sinclair/typebox";

import { defineTable, personal } from "../../db/table.ts";
import { documented, emailAddress, instant, listOf, resource, text } from "../../web/schema.ts";

const exampleUserId = "019377b0-7d40-7000-8000-000000000001";

export const userSchema = resource("User", "A person or program that can hold a token.", {
  id: personal(
    "pseudonym",
    Type.String({ format: "uuid", description: "A UUID.", examples: [exampleUserId] }),
  ),
  name: personal("identifies", text("The display name.", "Ada Lovelace")),
  email: personal("identifies", emailAddress("Unique without regard to letter case.")),
  createdAt: instant("When the user was made."),
});

export interface User extends Static<typeof userSchema> {}

export const usersTable = defineTable("users", userSchema.properties);

export const usersSchema = listOf(userSchema, "Newest first.");

export const userParams = documented(
  Type.Object({ id: Type.String({ description: "The user's id.", examples: [exampleUserId] }) }),
);
