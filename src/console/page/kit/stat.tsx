import type { ComponentChildren } from "preact";

interface StatParts {
  readonly name: string;
  readonly value: string;
  readonly more: ComponentChildren;
  readonly tone?: "warn" | "bad" | undefined;
}

/** One number with its name, in a list of terms. */
export function Stat({ name, value, more, tone }: StatParts) {
  return (
    <div class={`figure ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        <span class="quiet">{more}</span>
      </dd>
    </div>
  );
}
