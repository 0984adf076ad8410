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

/**
 * The media types of `types` that a client accepts, most preferred first (RFC 9110 section 12.5.1): each has the weight
 * of the most specific range that matches it. Of equal ones, the one whose range is first in the header comes first,
 * and then the one that is first in `types`. A missing or empty header accepts all of them.
 */
export function acceptedOf<Type extends string>(
  accept: string | null,
  types: readonly Type[],
): readonly Type[] {
  const ranges = mediaRanges(accept ?? "");
  if (ranges.length === 0) return types;
  return types
    .map((type) => {
      const names = [type, `${type.slice(0, type.indexOf("/"))}/*`, "*/*"];
      const place = names.map((name) => ranges.findIndex((range) => range.type === name));
      const first = place.find((index) => index !== -1) ?? -1;
      return { type, place: first, weight: ranges[first]?.weight ?? 0 };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight || one.place - other.place)
    .map(({ type }) => type);
}

/** The media types in an Accept header, with their weights from 0 to 1. Parameters other than `q` are ignored. */
function mediaRanges(accept: string) {
  return accept
    .split(",")
    .filter((range) => range.trim() !== "")
    .map((range) => {
      const [type = "", ...parameters] = range.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
      return { type, weight: weight === undefined ? 1 : Number(weight) || 0 };
    });
}
