/**
 * `accepted`: a type that the provider lists; operators are notified. `ignored`: verified, but the
 * provider does not list the type. `unreadable`: verified, but not parsable; stored so that no data is lost.
 */
export const eventStatuses = ["accepted", "ignored", "unreadable"] as const;
