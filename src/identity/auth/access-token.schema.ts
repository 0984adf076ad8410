import { Type } from "@sinclair/typebox";

import { count, documented, schemaOf, text, word } from "../../web/rest/schema.ts";

import type { AccessToken } from "./clients.ts";

export const accessTokenSchema = schemaOf<AccessToken>()(
  "AccessToken",
  "An access token (RFC 6749 section 5.1).",
  {
    access_token: text(
      "Send it as `Authorization: Bearer <token>`.",
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
    ),
    token_type: word(["Bearer"]),
    expires_in: count("Seconds until it ends.", 3600),
  },
);

export const tokenRequestSchema = documented(
  Type.Object(
    {
      grant_type: word(["client_credentials"]),
      client_id: Type.Optional(
        text(
          "Made by `skyhook client add`; may be sent as HTTP Basic user name instead.",
          "cli_019377b07d4070008000000000000001",
        ),
      ),
      client_secret: Type.Optional(
        text("Told when the client was made; may be sent as HTTP Basic password instead."),
      ),
    },
    { $id: "TokenRequest", description: "The client-credentials grant (RFC 6749 section 4.4)." },
  ),
);

export const consoleCodeSchema = documented(
  Type.Object(
    { code: text("The part of the link behind `#code=`.", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln") },
    { $id: "ConsoleCode", description: "A one-time code of `skyhook console`." },
  ),
);
