import { requireOperator } from "../../base/context.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";

import { severities } from "../notification.ts";

/** What operators are told, as it happens. */
export function notificationsGraphql(builder: Builder): void {
  const Severity = builder.enumType("Severity", {
    description: "How much it matters to an operator.",
    values: severities,
  });

  builder.objectType("Notification", {
    description: "One message to the operators about one event.",
    fields: (t) => ({
      notificationId: t.exposeID("id", { description: "The notification's id, as in REST." }),
      title: t.exposeString("title", { description: "One line." }),
      text: t.exposeString("text", { description: "The rest; may be empty." }),
      url: t.exposeString("url", { nullable: true, description: "Where to read more." }),
      severity: t.expose("severity", { type: Severity, description: "How much it matters." }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
      event: t.field({
        type: "Event",
        nullable: true,
        description: "What it is about; null once that is no longer kept.",
        resolve: ({ eventId }, _, { load }) => load.event(eventId),
      }),
    }),
  });

  builder.subscriptionField("notifications", (t) =>
    t.field({
      type: "Notification",
      description: "Every notification from now on, until the token ends. For operators.",
      async subscribe(_, _args, { verbs, clock, signedIn }) {
        const ctx = signedIn();
        requireOperator(ctx);
        // Known before the answer begins: a client misses nothing that happens once it is there.
        const afterSeq = await verbs.feed.newestSeq();
        return whileSignedIn(ctx, clock, (signal) => verbs.feed.follow(afterSeq, signal));
      },
      resolve: (entry) => entry,
    }),
  );
}
