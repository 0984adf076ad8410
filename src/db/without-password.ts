/** A URL to show: without user and password, and without the values of secret parameters. */
export function withoutPassword(url: string): string {
  return url
    .replace(/(:\/\/).*@/, "$1***@")
    .replaceAll(/([?&][^=&]*(?:pass|secret|token|api.?key|sig)[^=&]*=)[^&]*/gi, "$1***");
}
