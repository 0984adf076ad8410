/**
 * Sets security headers on every response: browsers must not sniff its type, load resources, show it in a
 * frame or send its URL as referrer. HTML pages replace the Content-Security-Policy with their own. HSTS is
 * left to the proxy that terminates TLS.
 */
export function setSecurityHeaders(headers: Record<string, string | number>): void {
  headers["x-content-type-options"] = "nosniff";
  headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'";
  headers["referrer-policy"] = "no-referrer";
}
