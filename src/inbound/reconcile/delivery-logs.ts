import { codeHostLog } from "./code_host.ts";
import type { LogKind } from "./delivery-log.ts";
import { paymentProcessorLog } from "./payment_processor.ts";

/** Every log that Skyhook can read. */
export const deliveryLogs: readonly LogKind[] = [codeHostLog, paymentProcessorLog];

export function deliveryLogOf(provider: string): LogKind | undefined {
  return deliveryLogs.find((log) => log.provider === provider);
}
