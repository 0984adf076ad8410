import { Type } from "@sinclair/typebox";

import { maxActorIdLength } from "../../base/context.ts";
import { count, documented, instant, listOf, resource, text } from "../../web/schema.ts";
import { tokenRequestSchema } from "../auth/access-token.schema.ts";

export const revokeRequestSchema = documented(
  Type.Object(
    {
      token: text(
        "An access token, the token of an agent, or an API key.",
        "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
      ),
      token_type_hint: Type.Optional(text("Is ignored: the token says what it is.")),
      client_id: tokenRequestSchema.properties.client_id,
      client_secret: tokenRequestSchema.properties.client_secret,
    },
    { $id: "RevokeRequest", description: "A token to revoke (RFC 7009 section 2.1)." },
  ),
);

export const revokedSchema = resource("Revoked", "Empty (RFC 7009 section 2.2).", {});

export const revocationInputSchema = Type.Object(
  {
    subject: Type.String({
      minLength: 1,
      maxLength: maxActorIdLength,
      pattern: "^(?=.*\\S)[^\\x00-\\x1f\\x7f]+$",
      errorMessage: `Use 1 to ${maxActorIdLength} characters, without control characters`,
      description: "A user's e-mail address, or the id of a user or client, as in the audit list.",
      examples: ["ada@example.com"],
    }),
  },
  { $id: "RevocationInput", description: "Whose access to end." },
);

export const revocationSchema = resource("Revocation", "Access that was ended.", {
  subjects: listOf(Type.String(), "The ids that it was ended for."),
  revokedAt: instant("Tokens that were issued until then are refused."),
  ended: count("Sessions of the console, tokens of agents and API keys that were ended.", 1),
});
