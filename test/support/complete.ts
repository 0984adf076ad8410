/**
 * Providers whose every listed event has a link and someone who acted: operators want both. Another
 * service may have neither, as one that watches machines.
 */
export const complete: readonly string[] = [
  "task_tracker",
  "shared_inbox",
  "deploy_platform",
  "code_host",
  "payment_processor",
];
