import { Type } from "@sinclair/typebox";

import { documented, emailAddress, instant, listOf, schemaOf, text } from "../../web/schema.ts";

import type { User } from "./user.ts";

const example = "019377b0-7d40-7000-8000-000000000001";

export const userSchema = schemaOf<User>()("User", "A person or program that can hold a token.", {
  id: Type.String({ format: "uuid", description: "A UUID.", examples: [example] }),
  name: text("The display name.", "Ada Lovelace"),
  email: emailAddress("Unique without regard to letter case."),
  createdAt: instant({ description: "When the user was made." }),
});

export const usersSchema = listOf(userSchema, { description: "Newest first." });

export const userParams = documented(
  Type.Object({ id: Type.String({ description: "The user's id.", examples: [example] }) }),
);
