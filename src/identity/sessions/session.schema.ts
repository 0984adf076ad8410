import { Type } from "@sinclair/typebox";

import { pageOf } from "../../web/page.schema.ts";
import { documented, flag, resource, text } from "../../web/schema.ts";

import { sessionSchema } from "./session.ts";

export const signedOutSchema = resource("SignedOut", "The end of a session.", {
  ended: flag("Whether this browser had a session."),
});

export const sessionPageSchema = pageOf(sessionSchema);

export const sessionParams = documented(
  Type.Object({ id: text("The session's id.", "ses_019377b07d4070008000000000000001") }),
);

export const signInSchema = documented(
  Type.Object(
    {
      code: Type.Optional(
        text("A one-time code of `skyhook console`. Without it, the request needs a token."),
      ),
      name: Type.Optional(
        text(
          "The name of who signs in by a code that was not made for a name. Without a code, it names the session of the request's cookie.",
          "Ada",
        ),
      ),
    },
    { $id: "SignIn", description: "What a session is opened with." },
  ),
);
