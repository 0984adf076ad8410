/**
 * What every answer tells browsers: not to guess its type, to load and run nothing of it, to show it in
 * no frame, and to name its address to nobody. Pages say in a policy of their own what they load. That
 * a host is reached by TLS only (HSTS) is for the proxy to say, which ends TLS.
 */
export function setSecurityHeaders(answer: Record<string, string | number>): void {
  answer["x-content-type-options"] = "nosniff";
  answer["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'";
  answer["referrer-policy"] = "no-referrer";
}
