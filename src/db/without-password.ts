/** Masks user, password and the values of secret parameters in a URL, so that it can be shown. */
export function withoutPassword(url: string): string {
  return url
    .replace(/(:\/\/).*@/, "$1***@")
    .replaceAll(/([?&][^=&]*(?:pass|secret|token|api.?key|sig)[^=&]*=)[^&]*/gi, "$1***");
}
