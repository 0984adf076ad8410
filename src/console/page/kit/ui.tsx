import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { ApiError } from "./api.ts";
import type { Loaded } from "./load.ts";
import { monogramOf } from "./monogram.ts";
import { useName } from "./names.ts";
import { type Of, Text, words } from "./text.tsx";
import type { DeliveryState } from "./wire.ts";

export type Tone = "good" | "bad" | "warn" | "info" | "quiet";

/** A state, by colour and text: colour alone is not accessible (WCAG 2.2, 1.4.1). */
export function Badge({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const tones: Readonly<Record<string, Tone>> = {
  // Not green: `accepted` means received, and the event may report a failure.
  accepted: "quiet",
  ignored: "quiet",
  unreadable: "bad",
  delivered: "good",
  pending: "info",
  retrying: "warn",
  dead: "bad",
  filtered: "quiet",
  confirmed: "good",
  cancelled: "bad",
  flown: "quiet",
  offered: "info",
  success: "good",
  info: "info",
  warning: "warn",
  error: "bad",
};

interface MarkParts {
  /** Its colours. */
  readonly look: string;
  readonly glyph: string;
  readonly label: string;
}

/** A state in a list, by shape, colour and word. */
export function Mark({ look, glyph, label }: MarkParts) {
  return (
    <span class={`mark ${look}`}>
      <span class="glyph" aria-hidden="true">
        {glyph}
      </span>
      {label}
    </span>
  );
}

/**
 * The delivery state of an event. Each has a shape of its own, so that the list can be scanned without
 * telling red from green.
 */
const deliveryMarks = {
  dead: ["✕", "Dead"],
  retrying: ["↻", "Retrying"],
  pending: ["…", "Pending"],
  delivered: ["✓", "Delivered"],
  none: ["–", "None"],
} as const satisfies Readonly<Record<DeliveryState, readonly [glyph: string, label: string]>>;
const markByState: ReadonlyMap<string, readonly [string, string]> = new Map(
  Object.entries(deliveryMarks),
);

export function Delivery({ of: state }: Of<DeliveryState>) {
  // A newer server may know other states.
  const [glyph, label] = markByState.get(state) ?? ["?", words(state)];
  return <Mark look={state} glyph={glyph} label={label} />;
}

interface SourceParts extends Of<string> {
  /** By default the name by which the console knows it. */
  readonly name?: string;
  /** Whether to show the initials only. */
  readonly isShort?: boolean;
}

/** A provider: its mark, and its name. */
export function Source({ of: provider, name: given, isShort = false }: SourceParts) {
  const known = useName(provider);
  const name = given ?? known;
  const { initials, tint } = monogramOf(name);
  return (
    <>
      <span class="monogram" style={{ "--tint": `var(--series-${tint})` }} aria-hidden="true">
        {initials}
      </span>
      {!isShort && (
        <span class="provider" title={provider}>
          <Text of={name} />
        </span>
      )}
    </>
  );
}

/** A status of the API. */
export function Status({ of: status }: Of<string>) {
  return <Badge tone={tones[status] ?? "quiet"}>{words(status)}</Badge>;
}

/** Grey rows in place of what is loading. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="loading" role="status">
      <div class="bones" aria-hidden="true" />
      <span class="hidden-label">Loading {what}…</span>
    </div>
  );
}

interface ErrorParts {
  readonly error: ApiError;
  readonly retry: () => void;
}

export function ErrorMessage({ error, retry }: ErrorParts) {
  return (
    <div class="state error" role="alert">
      <strong>{error.message}</strong>
      {error.requestId !== null && (
        <p>
          Request ID: <code>{error.requestId}</code>
        </p>
      )}
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

/** What a request shows besides its value: that the first response is awaited, or why it failed. */
export function Waiting({
  for: { value, error, reload },
  what,
}: {
  readonly for: Pick<Loaded<unknown>, "value" | "error" | "reload">;
  readonly what: string;
}) {
  if (error?.code === "invalid-parameter") return <FilterHint error={error} />;
  if (error !== null) return <ErrorMessage error={error} retry={reload} />;
  return value === null ? <Loading what={what} /> : null;
}

/** A filter that the server rejects: nothing has failed, and trying again does not help. */
export function FilterHint({ error: { message } }: Pick<ErrorParts, "error">) {
  return (
    <div role="status">
      <Empty title={message} />
    </div>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="state empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Scrolls content that is too wide. Focusable, so that the keyboard can scroll it. */
export function Wide({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}

/** A list of names and values. Text is untrusted. Leaves out null values. */
export function Facts({ of: facts }: Of<readonly (readonly [string, ComponentChildren])[]>) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? <Text of={value} /> : value}</dd>
          </div>
        ))}
    </dl>
  );
}

type Notice = { readonly text: string; readonly tone: Tone; readonly number: number };
let announce: (text: string, tone: Tone) => void = () => {};

/** Shows the result of an action in a one-line notice. */
export function notify(text: string, tone: Tone = "good"): void {
  announce(text, tone);
}

const noticeMs = 5_000;

export function Notices() {
  const [notice, setNotice] = useState<Notice | null>(null);
  useEffect(() => {
    let timer = 0;
    announce = (text, tone) => {
      clearTimeout(timer);
      setNotice((before) => ({ text, tone, number: (before?.number ?? 0) + 1 }));
      timer = window.setTimeout(() => setNotice(null), noticeMs);
    };
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice !== null && (
        <p key={notice.number} class={`notice ${notice.tone}`}>
          {notice.text}
        </p>
      )}
    </div>
  );
}

interface StatParts {
  readonly name: string;
  readonly value: string;
  readonly more: ComponentChildren;
  readonly tone?: "warn" | "bad" | undefined;
  /** The address of what it counts. */
  readonly href?: string;
}

/** One number with its name, in a list of terms. */
export function Stat({ name, value, more, tone, href }: StatParts) {
  return (
    <div class={`stat ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd>
        {href === undefined ? (
          <span class="value">{value}</span>
        ) : (
          <a class="value" href={href} aria-label={`${name}: ${value}`}>
            {value}
          </a>
        )}
        <span class="quiet">{more}</span>
      </dd>
    </div>
  );
}
