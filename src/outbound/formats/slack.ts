import type { Severity } from "../../event/new-notification.ts";

import { type FormatInfo, jsonType, originOf, type Render, safeLink, shortened } from "./format.ts";

export const slack = {
  label: "Slack",
  url: "The URL of an incoming webhook: hooks.slack.com/services/…",
  transport: "http",
  secret: null,
} as const satisfies FormatInfo;

/** Distinguishable for people with colour-blindness too, by lightness. */
const colours: Readonly<Record<Severity, string>> = {
  info: "#5b7083",
  success: "#1a7f5a",
  warning: "#e8a400",
  error: "#b3261e",
};

/** https://docs.slack.dev/reference/block-kit/blocks: maximum characters of a header and of a section. */
const maxHeaderCharacters = 150;
const maxSectionCharacters = 3_000;

/**
 * A message for an incoming webhook (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
 * Text of the payload is plain text, which Slack neither formats nor searches for mentions and links.
 */
export const renderSlack: Render = ({ notification, event }) => {
  const { title, text, url, severity } = notification;
  const plain = (content: string, maxLength: number) => ({
    type: "plain_text",
    text: shortened(content.trim() || "–", maxLength),
    emoji: false,
  });
  const link = safeLink(url);
  const origin = { type: "plain_text", text: shortened(originOf(event), 300), emoji: false };
  const open = link === null ? [] : [{ type: "mrkdwn", text: `<${inLink(link)}|Open>` }];
  const blocks = [
    { type: "header", text: plain(title, maxHeaderCharacters) },
    ...(text.trim() === "" ? [] : [{ type: "section", text: plain(text, maxSectionCharacters) }]),
    { type: "context", elements: [...open, origin] },
  ];
  const fallback = escaped(shortened(title, maxSectionCharacters));
  const body = { attachments: [{ color: colours[severity], fallback, blocks }] };
  return { headers: jsonType, body: JSON.stringify(body) };
};

/** Escapes Slack's three control characters, which start mentions and links. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A URL inside `<url|label>`: `URL` has encoded `<` and `>`, and `|` would begin the label. */
function inLink(url: string): string {
  return escaped(url.replaceAll("|", "%7C"));
}
