import { textAt } from "../../base/payload.ts";
import type { Event } from "../../event/event.ts";
import type { Severity } from "../../event/new-notification.ts";

import { type FormatInfo, jsonType, type Render, safeLink, shortened } from "./format.ts";

export const pagerduty = {
  label: "PagerDuty",
  url: "The Events API v2 by https: events.pagerduty.com/v2/enqueue",
  transport: "http",
  secret: { label: "Routing key", of: "the PagerDuty integration" },
} as const satisfies FormatInfo;

/** Success resolves an incident and has no severity of its own. */
const severities: Readonly<Record<Exclude<Severity, "success">, string>> = {
  info: "info",
  warning: "warning",
  error: "error",
};

/** https://developer.pagerduty.com/docs/send-alert-event */
const maxSummaryCharacters = 1_024;
const maxDedupKeyCharacters = 255;

/**
 * An event of the Events API v2. The secret is the integration's routing key. Events about one subject, or of one pipeline, belong
 * to one incident; an event of severity `success` resolves it.
 */
export const renderPagerduty: Render = ({ notification, event, secrets }) => {
  const { id, title, text, url, severity, createdAt } = notification;
  const link = safeLink(url);
  const body = {
    routing_key: secrets[0],
    dedup_key: incidentOf(event),
    ...(severity === "success"
      ? { event_action: "resolve" }
      : {
          event_action: "trigger",
          client: "Skyhook",
          ...(link !== null && { links: [{ href: link, text: "Open" }] }),
          payload: {
            summary: shortened(title.trim() || "–", maxSummaryCharacters),
            source: event.provider,
            severity: severities[severity],
            timestamp: createdAt.toISOString(),
            class: event.type,
            custom_details: { text, actor: event.actor, ...event.data, notificationId: id },
          },
        }),
  };
  return { headers: jsonType, body: JSON.stringify(body) };
};

/**
 * The same for all events about one subject, or of one pipeline: the next green run resolves what a red one opened. By
 * its prefix, pagerduty.yaml recognises our incidents.
 */
function incidentOf({ provider, subject, id, data }: Event): string {
  const key = `skyhook:${provider}:${textAt(data, "pipeline") ?? subject ?? id}`;
  return key.length <= maxDedupKeyCharacters ? key : `skyhook:${Bun.SHA256.hash(key, "hex")}`;
}
