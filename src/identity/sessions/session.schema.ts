import { Type } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { pageOf } from "../../web/rest/page.schema.ts";
import { documented, instant, listOf, prefixedId, schemaOf, text, word } from "../../web/schema.ts";

import type { ConsoleSession } from "./session.ts";

export const sessionSchema = schemaOf<ConsoleSession>()(
  "ConsoleSession",
  "A browser that is signed in to the console.",
  {
    id: prefixedId("ses_", { description: "The session's id." }),
    actor: text("Who signed in.", "skyhook-console"),
    roles: listOf(word(roles), { description: "What it may do." }),
    address: text("The client's address at sign-in.", "192.0.2.1"),
    userAgent: text("The browser, as it names itself."),
    createdAt: instant({ description: "When it signed in." }),
    expiresAt: instant({ description: "At most 12 hours later." }),
  },
);

export const signedOutSchema = schemaOf<{ readonly ended: boolean }>()(
  "SignedOut",
  "The end of a session.",
  { ended: Type.Boolean({ description: "Whether this browser had a session." }) },
);

export const sessionPageSchema = pageOf(sessionSchema);

export const sessionParams = documented(Type.Object({ id: text("The session's id.") }));

export const signInSchema = documented(
  Type.Object(
    {
      code: Type.Optional(
        text("A one-time code of `skyhook console`. Without it, the request needs a token."),
      ),
    },
    { $id: "SignIn", description: "What a session is opened with." },
  ),
);
