/**
 * The names of MCP Events, by the late draft of SEP-3415 (design sketch, 082166f). Its final text may have others, so
 * only this file has them.
 */
export const extension = "io.modelcontextprotocol/events";

export const methods = {
  list: "events/list",
  subscribe: "events/subscribe",
  unsubscribe: "events/unsubscribe",
  poll: "events/poll",
} as const;

/** Codes of errors, with what their `data` says. */
export const errorCodes = {
  invalidParams: -32_602,
  /** `{kind}`: what was not found. */
  notFound: -32_011,
  /** `{limit, max}` */
  exhausted: -32_013,
  /** `{feature, value}` */
  unsupported: -32_014,
  /** `{reason}`: why the address of a subscriber was not proved. */
  callback: -32_015,
} as const;

/** How long a client waits between polls. */
export const nextPollMs = 5_000;
