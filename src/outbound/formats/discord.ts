import type { Severity } from "../../event/new-notification.ts";

import { type FormatInfo, jsonType, originOf, type Render, safeLink, shortened } from "./format.ts";

export const discord = {
  label: "Discord",
  url: "The URL of a channel’s webhook: discord.com/api/webhooks/…",
  transport: "http",
  secret: null,
} as const satisfies FormatInfo;

const colours: Readonly<Record<Severity, number>> = {
  info: 0x5b7083,
  success: 0x1a7f5a,
  warning: 0xe8a400,
  error: 0xb3261e,
};

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
const maxTitleCharacters = 256;
const maxDescriptionCharacters = 4_096;
const maxFooterCharacters = 2_048;

/** An embed for a webhook (https://discord.com/developers/docs/resources/webhook#execute-webhook). */
export const renderDiscord: Render = ({ notification, event }) => {
  const { title, text, url, severity, createdAt } = notification;
  const link = safeLink(url);
  const embed = {
    title: shortened(withoutMarkdown(title.trim() || "–"), maxTitleCharacters),
    ...(text.trim() !== "" && {
      description: shortened(withoutMarkdown(text), maxDescriptionCharacters),
    }),
    ...(link !== null && { url: link }),
    color: colours[severity],
    footer: { text: shortened(originOf(event), maxFooterCharacters) },
    timestamp: createdAt.toISOString(),
  };
  // Without it, `@everyone` in the text would notify everyone.
  const body = { embeds: [embed], allowed_mentions: { parse: [] } };
  return { headers: jsonType, body: JSON.stringify(body) };
};

/** Escapes what starts formatting, links and mentions in Discord's Markdown. */
function withoutMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+\-.!|<>~@:]/gu, String.raw`\$&`);
}
