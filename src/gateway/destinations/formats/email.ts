import type { Event } from "../../event.ts";

import { originOf, safeLink, type Sendable, shortened } from "./format.ts";

/** A plain-text message. */
export interface EmailMessage {
  /** The same for every attempt, so that mail programs show a repeated message once. */
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly date: Date;
}

const maxSubjectCharacters = 200;

export function email(notification: Sendable, event: Event): EmailMessage {
  const { id, title, text, url, severity, createdAt } = notification;
  const link = safeLink(url);
  const lines = [text, link, `${originOf(event)} · ${severity}`, `${id} · ${event.id}`];
  return {
    messageId: `<${id}@skyhook.invalid>`,
    // A line break would begin another header.
    subject: shortened(title.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() || "–", maxSubjectCharacters),
    text: lines.filter((line) => line !== null && line !== "").join("\n\n"),
    date: createdAt,
  };
}
