import { type Static, Type } from "@sinclair/typebox";

import { resource, text } from "../../web/schema.ts";
import { nameSchema } from "../users/fields.ts";

import { allowances, sessionSchema } from "./session.ts";

export const maxAgentTokenDays = 30;

export const agentTokenSchema = resource(
  "AgentToken",
  "A token for an agent, which is shown only here.",
  {
    ...sessionSchema.properties,
    token: text("Send it to `/mcp` as `Authorization: Bearer …`. No other route accepts it."),
  },
);

export interface AgentToken extends Static<typeof agentTokenSchema> {}

export const agentTokenInputSchema = Type.Object(
  {
    name: nameSchema(100, "Claude Code", "The name by which you recognize the token."),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxAgentTokenDays,
        errorMessage: `Use a whole number from 1 to ${maxAgentTokenDays}`,
        description: "How long it is valid. Default: 7.",
      }),
    ),
    allowed: Type.Optional(
      Type.Array(
        Type.Union(
          allowances.map((each) => Type.Literal(each)),
          { errorMessage: `One of: ${allowances.join(", ")}` },
        ),
        {
          uniqueItems: true,
          errorMessage: `Use a list of ${allowances.join(" and ")}, each at most once`,
          description:
            "What the agent may do beyond reading. `writes`: replay and retry events, send tests, mute issues. `bodies`: read the bodies of webhooks. Default: nothing.",
        },
      ),
    ),
  },
  { $id: "AgentTokenInput", description: "A token to make for an agent." },
);
