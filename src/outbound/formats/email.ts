import type { Event } from "../../event/event.ts";
import type { PostRequest } from "../transports/post.ts";

import { type FormatInfo, originOf, safeLink, type SentNotification, shortened } from "./format.ts";

export const email = {
  label: "E-mail",
  url: "smtps://user:password@host:465/?from=a@example.com&to=b@example.com",
  transport: "smtp",
  secret: null,
} as const satisfies FormatInfo;

const maxSubjectCharacters = 200;

export function renderEmail(notification: SentNotification, event: Event): PostRequest {
  const { id, title, text, url, severity } = notification;
  const link = safeLink(url);
  const lines = [text, link, `${originOf(event)} · ${severity}`, `${id} · ${event.id}`];
  return {
    // A line break would begin another header.
    headers: {
      subject: shortened(
        title.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() || "–",
        maxSubjectCharacters,
      ),
    },
    body: lines.filter((line) => line !== null && line !== "").join("\n\n"),
  };
}
