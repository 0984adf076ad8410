import { Type } from "@sinclair/typebox";

import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
import { documented, word } from "../../web/schema.ts";
import { notificationStatuses } from "../notification-words.ts";
import { notificationSchema } from "../notification.ts";

export const notificationPageSchema = pageOf(notificationSchema);

export const notificationListQuery = documented(
  Type.Object({
    ...pageParameters,
    status: Type.Optional(
      word(notificationStatuses, { description: "Only notifications with this status." }),
    ),
  }),
);
