/** In ascending order. */
export const severities = ["info", "success", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** The highest severity of these messages, or null if there are none. */
export function highestSeverity(messages: readonly Pick<Message, "severity">[]): Severity | null {
  const found = messages.map(({ severity }) => severity);
  return severities.findLast((severity) => found.includes(severity)) ?? null;
}

/** The text of a notification, returned by a provider's notify function. */
export interface Message {
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  readonly severity: Severity;
}
