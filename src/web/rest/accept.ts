/**
 * Whether a client prefers HTML to JSON: it lists `text/html` itself, as browsers do, and not with a lower
 * weight than `application/json` (RFC 9110 section 12.5.1).
 */
export function prefersHtml(accept: string | null): boolean {
  const html = weightOf(accept, "text/html");
  return html > 0 && html >= weightOf(accept, "application/json");
}

/** The weight of a media type that is listed by its full name, from 0 to 1; 0 if it is not listed. */
function weightOf(accept: string | null, type: string): number {
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}
