/** The choices of the filters of events. */
export const deliveries = ["dead", "retrying", "pending", "delivered", "none"];
export const statuses = ["accepted", "ignored", "unreadable"];

/** What the API searches for. While the last word is being typed, it matches longer ones too. */
export function wordsStarting(typed: string): string {
  return /[\p{L}\p{N}]$/u.test(typed) && !typed.includes('"') ? `${typed}*` : typed;
}
