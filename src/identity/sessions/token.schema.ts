import { type Static, Type } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { resource, text } from "../../web/schema.ts";
import { nameSchema } from "../users/fields.ts";

import { allowances, sessionSchema } from "./session.ts";

export const maxAgentTokenDays = 30;
export const maxKeyDays = 365;
export const defaultKeyDays = 90;

export const agentTokenSchema = resource(
  "AgentToken",
  "A token for an agent, which is shown only here.",
  {
    ...sessionSchema.properties,
    token: text("Send it to `/mcp` as `Authorization: Bearer …`. No other route accepts it."),
  },
);

export interface AgentToken extends Static<typeof agentTokenSchema> {}

export const newApiKeySchema = resource("NewApiKey", "An API key, which is shown only here.", {
  ...sessionSchema.properties,
  key: text("Send it as `Authorization: Bearer …`."),
});

export interface NewApiKey extends Static<typeof newApiKeySchema> {}

const common = (example: string, maxDays: number, defaultDays: number) => ({
  name: nameSchema(100, example, "Its name in lists."),
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxDays,
      errorMessage: `Use a whole number from 1 to ${maxDays}`,
      description: `How long it is valid. Default: ${defaultDays}.`,
    }),
  ),
});

const oneOf = <const Words extends readonly string[]>(words: Words, description?: string) =>
  Type.Union(
    words.map((each: Words[number]) => Type.Literal(each)),
    { errorMessage: `One of: ${words.join(", ")}`, ...(description && { description }) },
  );

export const agentTokenInputSchema = Type.Object(
  {
    ...common("Claude Code", maxAgentTokenDays, 7),
    allowed: Type.Optional(
      Type.Array(oneOf(allowances), {
        uniqueItems: true,
        errorMessage: `Use a list of ${allowances.join(" and ")}, each at most once`,
        description:
          "What the agent may do beyond reading. `writes`: replay and retry events, send tests, mute issues. `bodies`: read the bodies of webhooks. Default: nothing.",
      }),
    ),
  },
  { $id: "AgentTokenInput", description: "A token to make for an agent." },
);

export const apiKeyInputSchema = Type.Object(
  {
    ...common("Nightly export", maxKeyDays, defaultKeyDays),
    role: Type.Optional(oneOf(roles, "What it may do: at most what you may. Default: `user`.")),
  },
  { $id: "ApiKeyInput", description: "An API key to make." },
);
