import { type Static, Type } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { pageOf } from "../../web/page.schema.ts";
import { resource, text, word } from "../../web/schema.ts";
import { nameSchema } from "../users/fields.ts";

import { sessionSchema } from "./session.ts";

export const maxKeyDays = 365;
export const defaultKeyDays = 90;

const { id, actor, createdAt, expiresAt, lastUsedAt } = sessionSchema.properties;

export const apiKeySchema = resource("ApiKey", "An API key of a program.", {
  id,
  name: text("The name by which you recognize it.", "Nightly export"),
  role: word(roles, "What it may do."),
  actor: { ...actor, description: "The id of who made it. Requests with the key are theirs." },
  createdAt,
  expiresAt,
  lastUsedAt,
});

export interface ApiKey extends Static<typeof apiKeySchema> {}

export const newApiKeySchema = resource("NewApiKey", "An API key, which is shown only here.", {
  ...apiKeySchema.properties,
  key: text("Send it as `Authorization: Bearer …`."),
});

export interface NewApiKey extends Static<typeof newApiKeySchema> {}

export const apiKeyPageSchema = pageOf(apiKeySchema);

export const apiKeyInputSchema = Type.Object(
  {
    name: nameSchema(100, "Nightly export", "The name by which you recognize the key."),
    role: Type.Optional(
      Type.Union(
        roles.map((each) => Type.Literal(each)),
        {
          errorMessage: `One of: ${roles.join(", ")}`,
          description: "What it may do: at most what you may. Default: `user`.",
        },
      ),
    ),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxKeyDays,
        errorMessage: `Use a whole number from 1 to ${maxKeyDays}`,
        description: `How long it is valid. Default: ${defaultKeyDays}.`,
      }),
    ),
  },
  { $id: "ApiKeyInput", description: "An API key to make." },
);
