import { codeHost } from "./code_host.ts";
import { deployPlatform } from "./deploy_platform.ts";
import { paymentProcessor } from "./payment_processor.ts";
import type { Provider } from "./provider.ts";
import { sharedInbox } from "./shared_inbox.ts";
import { taskTracker } from "./task_tracker.ts";

/** All supported providers. `WEBHOOK_PROVIDERS` selects those that are registered. */
export const catalogue: readonly Provider[] = [
  taskTracker,
  sharedInbox,
  deployPlatform,
  codeHost,
  paymentProcessor,
];

/** The default of `WEBHOOK_PROVIDERS`: the four providers of the specification. */
export const defaultProviders: readonly string[] = [
  taskTracker.id,
  sharedInbox.id,
  deployPlatform.id,
  codeHost.id,
];

/** Finds a provider in the catalogue, registered or not. */
export function providerById(id: string): Provider | undefined {
  return catalogue.find((provider) => provider.id === id);
}
