import { type Static, Type } from "@sinclair/typebox";

import { count, documented, resource, text, word } from "../../web/schema.ts";

export const accessTokenSchema = resource(
  "AccessToken",
  "An access token (RFC 6749 section 5.1).",
  {
    access_token: text(
      "Send it as `Authorization: Bearer <token>`.",
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
    ),
    token_type: word(["Bearer"]),
    expires_in: count("Seconds until the token expires.", 3600),
  },
);

export interface AccessToken extends Static<typeof accessTokenSchema> {}

export const tokenRequestSchema = documented(
  Type.Object(
    {
      grant_type: word(["client_credentials"]),
      client_id: Type.Optional(
        text(
          "Printed by `skyhook client add`. May be sent as the HTTP Basic user name instead.",
          "cli_019377b07d4070008000000000000001",
        ),
      ),
      client_secret: Type.Optional(
        text(
          "Printed once by `skyhook client add`. May be sent as the HTTP Basic password instead.",
        ),
      ),
    },
    {
      $id: "TokenRequest",
      description: "The client-credentials grant (RFC 6749 section 4.4).",
      examples: [
        {
          grant_type: "client_credentials",
          client_id: "cli_019377b07d4070008000000000000001",
          client_secret: "<the secret>",
        },
      ],
    },
  ),
);
