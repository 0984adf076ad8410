/**
 * Names the notifications that led to a message, oldest first, as `Via` names proxies (RFC 9110 section 7.6.3). By them,
 * Skyhook recognises what it caused itself, also through other Skyhooks and in any format.
 */
export const viaHeader = "skyhook-via";
