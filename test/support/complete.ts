/**
 * Providers that send a link and an actor with every listed event. Other providers may have neither, for
 * example machine monitoring.
 */
export const complete: readonly string[] = [
  "task_tracker",
  "shared_inbox",
  "deploy_platform",
  "code_host",
  "payment_processor",
];
