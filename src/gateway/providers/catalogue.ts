import type { Provider } from "./provider.ts";
import { codeHost } from "./code_host.ts";
import { deployPlatform } from "./deploy_platform.ts";
import { paymentProcessor } from "./payment_processor.ts";
import { sharedInbox } from "./shared_inbox.ts";
import { taskTracker } from "./task_tracker.ts";

/** Every provider there is. `WEBHOOK_PROVIDERS` names those that are registered. */
export const catalogue: readonly Provider[] = [
  taskTracker,
  sharedInbox,
  deployPlatform,
  codeHost,
  paymentProcessor,
];

/** Registered where nothing else is said: the four that the specification registers. */
export const defaultProviders: readonly string[] = [
  taskTracker.id,
  sharedInbox.id,
  deployPlatform.id,
  codeHost.id,
];

/** A provider of the catalogue, registered or not. */
export function providerById(id: string): Provider | undefined {
  return catalogue.find((provider) => provider.id === id);
}
