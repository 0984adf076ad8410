import { codeHostLog } from "./code_host.ts";
import { paymentProcessorLog } from "./payment_processor.ts";
import type { LogKind } from "./provider-log.ts";

/** Every log that Skyhook can read. */
export const providerLogs: readonly LogKind[] = [codeHostLog, paymentProcessorLog];

export function providerLogOf(provider: string): LogKind | undefined {
  return providerLogs.find((log) => log.provider === provider);
}
