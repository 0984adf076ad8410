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
  return mediaRanges(accept ?? "").find((range) => range.type === type)?.weight ?? 0;
}

/** The media types in an Accept header, with their weights from 0 to 1. Parameters other than `q` are ignored. */
export function mediaRanges(accept: string) {
  return accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { type, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
}
