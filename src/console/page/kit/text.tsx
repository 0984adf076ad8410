import type { ComponentChildren } from "preact";

/**
 * Characters that are invisible or change how others are displayed: controls, zero-width characters and
 * bidirectional controls (Unicode TR #36). Except tab, line feed and the zero-width joiner of emoji.
 */
const invisible = /(?![\t\n\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The parts of a component that shows one value. */
export interface Of<Value> {
  readonly of: Value;
}

/** Untrusted text. Rendered as text, never as markup, with invisible characters shown by their code. */
export function Text({ of: text }: Of<string>) {
  return <bdi>{parts(text)}</bdi>;
}

function parts(text: string): ComponentChildren {
  const found = [...text.matchAll(invisible)];
  if (found.length === 0) return text;
  const out: ComponentChildren[] = [];
  let from = 0;
  for (const match of found) {
    const name = `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    out.push(
      text.slice(from, match.index),
      <span class="invisible" title="Invisible character">
        {name}
      </span>,
    );
    from = match.index + match[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/** An id or a name, as it is. */
export function Mono({ of: text }: Of<string>) {
  return (
    <span class="mono">
      <Text of={text} />
    </span>
  );
}

/** Exact text with visible line breaks: signatures cover them too. */
export function ExactText({ of: text }: Of<string>) {
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

/** A link to another site. Anything but an http or https URL is shown as text. */
export function ExternalLink({
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
  const text = code.replaceAll(/[-_]/g, " ");
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
    // For some currencies browsers assume fewer decimals than ISO 4217 defines: do not round them away.
    maximumFractionDigits: 4,
  } as const;
  return new Intl.NumberFormat("en", style).format(amount);
}
