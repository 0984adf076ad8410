import { decodeCursor } from "../../base/cursor.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { fieldsOf, inputOf } from "../../web/graphql/from-schema.ts";
import { idempotencyKeyArg, idempotencyKeyOf } from "../../web/graphql/idempotency-key.ts";
import { loader, one } from "../../web/graphql/loaders.ts";

import { type User, userSchema } from "./user.ts";
import { createUserSchema, type Users } from "./users.ts";

/** Users. `USERS_ACCESS` sets who may list and create them: every authenticated caller or admins. */
export function usersGraphql(builder: Builder, users: Users) {
  const loadUser = loader(async ({ signedIn }, ids: readonly User["id"][]) =>
    one(await users.find(signedIn(), ids), ({ id }) => id),
  );
  const UserType = builder.objectRef<User>("User");

  builder.node(UserType, {
    description: "A person who can sign in.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadUser(ctx, id))),
    fields: (t) => ({
      userId: t.exposeID("id", { description: "Id of the user in REST: a UUID." }),
      ...fieldsOf(t, userSchema, ["name", "email", "createdAt"]),
    }),
  });

  builder.queryFields((t) => ({
    me: t.field({
      type: UserType,
      nullable: true,
      description:
        "The authenticated user; null for programs, and for users known only to an identity provider.",
      resolve: (_, _args, { signedIn }) => users.me(signedIn()),
    }),
    users: t.connection(
      {
        type: UserType,
        description: "All users, newest first.",
        resolve: (_, args, { signedIn }) => {
          const ctx = signedIn();
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, ""),
            (request) => users.list(ctx, request),
          );
        },
      },
      { name: "UserConnection", description: "A page of users." },
      { name: "UserEdge", description: "A user in a list." },
    ),
  }));

  const CreateUserInput = inputOf(builder, "CreateUserInput", createUserSchema, {
    email: "EmailAddress",
  });

  builder.mutationField("createUser", (t) =>
    t.field({
      type: UserType,
      description: "Creates a user.",
      args: {
        input: t.arg({ type: CreateUserInput, required: true, description: "The user to create." }),
        idempotencyKey: t.arg.string(idempotencyKeyArg),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = idempotencyKeyOf(idempotencyKey);
        return (await users.create(ctx, input, key)).made;
      },
    }),
  );

  return { UserType, loadUser };
}

/** Used in the types of other features. */
export type UserTypes = ReturnType<typeof usersGraphql>;
