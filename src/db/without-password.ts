/** A URL fit to be seen: what stands before the host is left out, and parameters with a secret. */
export function withoutPassword(url: string): string {
  return url
    .replace(/(:\/\/).*@/, "$1***@")
    .replaceAll(/([?&][^=&]*(?:pass|secret|token|api.?key|sig)[^=&]*=)[^&]*/gi, "$1***");
}
