/** A URL fit to be seen: what stands before the host is left out, and parameters with a secret. */
export function withoutPassword(url: string): string {
  return url
    .replace(/(:\/\/).*@/, "$1***@")
    .replaceAll(/([?&](?:password|sslpassword)=)[^&]*/g, "$1***");
}
