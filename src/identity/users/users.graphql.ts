import { decodeCursor } from "../../base/cursor.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import { checkedIdempotencyKey } from "../../web/rest/idempotency-key.ts";

import type { User } from "./user.ts";
import type { Users } from "./users.ts";

/** Users: whoever has a token may list and make them, or admins only, as configured. */
export function usersGraphql(builder: Builder, users: Users) {
  const loadUser = loader(async ({ signedIn }, ids: readonly User["id"][]) =>
    one(await users.find(signedIn(), ids), ({ id }) => id),
  );
  const UserType = builder.objectRef<User>("User");

  builder.node(UserType, {
    description: "A person who can hold a token.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadUser(ctx, id))),
    fields: (t) => ({
      userId: t.exposeID("id", { description: "The user's id, as in REST: a UUID." }),
      name: t.exposeString("name", { description: "The user's name." }),
      email: t.expose("email", {
        type: "EmailAddress",
        description: "Unique without regard to case.",
      }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    }),
  });

  builder.queryFields((t) => ({
    me: t.field({
      type: UserType,
      nullable: true,
      description: "You; null for programs and for people only an identity provider knows.",
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

  const CreateUserInput = builder.inputType("CreateUserInput", {
    description: "Whom to add. The same as the body of POST /v1/users.",
    fields: (t) => ({
      name: t.string({ required: true, description: "1 to 200 characters." }),
      email: t.field({
        type: "EmailAddress",
        required: true,
        description: "Not yet taken by another user.",
      }),
    }),
  });

  builder.mutationField("createUser", (t) =>
    t.field({
      type: UserType,
      description: "Adds a user.",
      args: {
        input: t.arg({ type: CreateUserInput, required: true, description: "Whom to add." }),
        idempotencyKey: t.arg.string({
          description:
            "1 to 255 visible ASCII characters. A retry with the same key within 24 hours is told what the first request did.",
        }),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = checkedIdempotencyKey(idempotencyKey, "idempotencyKey");
        return (await users.create(ctx, input, key)).made;
      },
    }),
  );

  return { UserType, loadUser };
}

/** What other features use in their own types. */
export type UserTypes = ReturnType<typeof usersGraphql>;
