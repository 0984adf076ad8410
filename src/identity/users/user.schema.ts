import { Type } from "@sinclair/typebox";

import { documented, listOf } from "../../web/schema.ts";

import { exampleUserId, userSchema } from "./user.ts";

export const usersSchema = listOf(userSchema, "Newest first.");

export const userParams = documented(
  Type.Object({ id: Type.String({ description: "The user's id.", examples: [exampleUserId] }) }),
);
