/** In ascending order. */
export const severities = ["info", "success", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** The highest severity of these notifications; null if there are none. */
export function highestSeverity(notifications: readonly { severity: Severity }[]): Severity | null {
  const found = notifications.map(({ severity }) => severity);
  return severities.findLast((severity) => found.includes(severity)) ?? null;
}

/** Whether it is this severity or a higher one. */
export function isAtLeast(severity: Severity | null, least: Severity | undefined): boolean {
  if (least === undefined) return true;
  return severity !== null && severities.indexOf(severity) >= severities.indexOf(least);
}

/** What a notification says, returned by a provider's notify function. */
export interface NewNotification {
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  readonly severity: Severity;
}
