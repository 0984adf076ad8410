import { type Static, Type } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { resource, text } from "../../web/schema.ts";
import { nameSchema } from "../users/fields.ts";

import { sessionSchema } from "./session.ts";

export const maxKeyDays = 365;
export const defaultKeyDays = 90;

export const newApiKeySchema = resource("NewApiKey", "An API key, which is shown only here.", {
  ...sessionSchema.properties,
  key: text("Send it as `Authorization: Bearer …`."),
});

export interface NewApiKey extends Static<typeof newApiKeySchema> {}

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
