import type { ComponentChildren } from "preact";

import { notify } from "./ui.tsx";

interface CopyParts {
  readonly label: string;
  readonly text: () => string;
  /** Whether it looks like a link. */
  readonly isQuiet?: boolean;
}

export function CopyButton({ label, text, isQuiet = false }: CopyParts) {
  return (
    <button type="button" class={isQuiet ? "link" : ""} onClick={() => void copy(text())}>
      {label}
    </button>
  );
}

interface SecretParts {
  readonly title: string;
  readonly secret: string;
  readonly advice: string;
  /** Buttons beside the one that copies it. */
  readonly children?: ComponentChildren;
}

/** Shows a secret that was just made, the only time. */
export function SecretOnce({ title, secret, advice, children }: SecretParts) {
  return (
    <div class="explanation secret" role="status">
      <h3>{title}</h3>
      <p class="mono">{secret}</p>
      <p class="quiet">{advice}</p>
      <div class="actions">
        <CopyButton label={`Copy ${title.toLowerCase()}`} text={() => secret} />
        {children}
      </div>
    </div>
  );
}

const made = new Map<string, string>();

/** Keeps a secret that was just made for the page of its resource. It is not stored, and the API does not return it again. */
export function keepSecret(of: string, secret: string | null): void {
  if (secret !== null) made.set(of, secret);
}

/** The secret that was just made for a resource, once. */
export function takeSecret(of: string): string | null {
  const secret = made.get(of) ?? null;
  made.delete(of);
  return secret;
}

/** Copies a text and says whether it could. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify("Copied");
  } catch {
    // The clipboard API is available only on HTTPS and localhost.
    const done = copyBySelection(text);
    notify(
      done ? "Copied" : "Copying failed. The browser blocked access to the clipboard.",
      done ? "good" : "bad",
    );
  }
}

function copyBySelection(text: string): boolean {
  const { activeElement } = document;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (activeElement instanceof HTMLElement) activeElement.focus();
  return done;
}
