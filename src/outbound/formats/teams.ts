import type { Severity } from "../../event/new-notification.ts";

import { type FormatInfo, jsonType, originOf, type Render, safeLink, shortened } from "./format.ts";

export const teams = {
  label: "Microsoft Teams",
  url: "The URL of the workflow “Post to a channel when a webhook request is received”",
  transport: "http",
  secret: null,
} as const satisfies FormatInfo;

const colours: Readonly<Record<Severity, string>> = {
  info: "default",
  success: "good",
  warning: "warning",
  error: "attention",
};

/** Teams refuses messages over 28 KB; a character takes 3 bytes of JSON at most, or 6 as an escape. */
const maxTitleCharacters = 256;
const maxTextCharacters = 3_000;

/**
 * An Adaptive Card for the workflow "Post to a channel when a webhook request is received"
 * (https://adaptivecards.io/explorer/RichTextBlock.html). Text runs are not formatted, unlike text blocks.
 */
export const renderTeams: Render = ({ notification, event }) => {
  const { title, text, url, severity } = notification;
  const run = (content: string, look: object) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text: content, ...look }],
  });
  const link = safeLink(url);
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      run(shortened(title.trim() || "–", maxTitleCharacters), {
        weight: "bolder",
        size: "medium",
        color: colours[severity],
      }),
      ...(text.trim() === "" ? [] : [run(shortened(text, maxTextCharacters), {})]),
      run(shortened(originOf(event), maxTitleCharacters), { isSubtle: true, size: "small" }),
    ],
    ...(link !== null && { actions: [{ type: "Action.OpenUrl", title: "Open", url: link }] }),
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  const body = { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
  return { headers: jsonType, body: JSON.stringify(body) };
};
