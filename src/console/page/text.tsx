import type { ComponentChildren } from "preact";

/**
 * Characters that are not seen, or that change how others are seen: controls, zero-width characters and
 * what turns the direction of writing (Unicode TR #36). Not tab and line feed, nor what joins emoji.
 */
const unseen = /(?![\t\n\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text from outside, with the characters that could deceive made visible. Always text, never markup. */
export function Text({ of: text }: { readonly of: string }) {
  return <bdi>{parts(text)}</bdi>;
}

function parts(text: string): ComponentChildren {
  const found = [...text.matchAll(unseen)];
  if (found.length === 0) return text;
  const out: ComponentChildren[] = [];
  let from = 0;
  for (const match of found) {
    const name = `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    out.push(
      text.slice(from, match.index),
      <span class="unseen" title="A character that is not seen">
        {name}
      </span>,
    );
    from = match.index + match[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/** Bytes as text, exactly: line breaks are marked, since signatures are over them too. */
export function ExactText({ of: text }: { readonly of: string }) {
  const lines = text.split("\n");
  return (
    <>
      {lines.map((line, index) => (
        <>
          {parts(line)}
          {index < lines.length - 1 && (
            <>
              <span class="line-end" aria-hidden="true">
                ↵
              </span>
              {"\n"}
            </>
          )}
        </>
      ))}
    </>
  );
}

/** A link that leads away, only where it is one for browsers; else the text alone. */
export function OutsideLink({
  to,
  children,
}: {
  readonly to: string;
  readonly children?: ComponentChildren;
}) {
  const url = URL.parse(to);
  if (url === null || !/^https?:$/.test(url.protocol)) return <Text of={to} />;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer external">
      {children ?? <Text of={to} />}
    </a>
  );
}

/** `wrong-signature` as `Wrong signature`. */
export function words(code: string): string {
  const text = code.replaceAll("-", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 booking`, `1,200 bookings` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** `USD 1,498.50` */
export function money(amount: number, currency: string): string {
  const style = {
    style: "currency",
    currency,
    currencyDisplay: "code",
    // Browsers know fewer decimals of some currencies than there are: none is to be rounded away.
    maximumFractionDigits: 4,
  } as const;
  return new Intl.NumberFormat("en", style).format(amount);
}
