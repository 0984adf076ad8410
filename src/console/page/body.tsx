import { useMemo, useState } from "preact/hooks";

import { prettyJson } from "./json.ts";
import { counted, ExactText, Text } from "./text.tsx";
import { CopyButton } from "./ui.tsx";

interface Bytes {
  readonly body: string;
  readonly bodyEncoding: "utf-8" | "base64";
}

/** More than this is shown when asked for. */
const shownCharacters = 40_000;

/** The bytes of a request, to read and exactly as they came. */
export function Body({ of: { body, bodyEncoding } }: { readonly of: Bytes }) {
  const pretty = useMemo(
    () => (bodyEncoding === "utf-8" ? prettyJson(body) : null),
    [body, bodyEncoding],
  );
  const [wanted, setWanted] = useState<"pretty" | "exact">("pretty");
  const [isWhole, setIsWhole] = useState(false);
  const mode = pretty === null ? "exact" : wanted;
  const text = mode === "pretty" ? (pretty ?? "") : bodyEncoding === "utf-8" ? body : hexDump(body);
  const shown = isWhole ? text : text.slice(0, shownCharacters);
  const isCut = !isWhole && text.length > shownCharacters;
  return (
    <div class="body">
      <div class="toolbar">
        <div class="tabs" role="group" aria-label="How the body is shown">
          {pretty !== null && (
            <button
              type="button"
              aria-pressed={mode === "pretty"}
              onClick={() => setWanted("pretty")}
            >
              Pretty
            </button>
          )}
          <button type="button" aria-pressed={mode === "exact"} onClick={() => setWanted("exact")}>
            {bodyEncoding === "utf-8" ? "Exact" : "Exact, as hex"}
          </button>
        </div>
        <CopyButton label="Copy body" text={() => body} />
      </div>
      {/* It scrolls, so the keyboard must reach it. */}
      <pre tabIndex={0} aria-label={`Body, ${mode}`} role="region">
        {mode === "pretty" ? <Text of={shown} /> : <ExactText of={shown} />}
      </pre>
      {isCut && (
        <button type="button" onClick={() => setIsWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}

/** 16 bytes a line: place, bytes, and the printable among them. */
function hexDump(base64: string): string {
  const bytes = atob(base64);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.slice(at, at + 16);
    const hex = Array.from(row, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(
      " ",
    );
    lines.push(
      `${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${row.replaceAll(/[^ -~]/g, ".")}`,
    );
  }
  return lines.join("\n");
}

/** Header lines as they came, without secrets and signatures. */
export function Headers({ of: headers }: { readonly of: Readonly<Record<string, string>> }) {
  const lines = Object.entries(headers);
  return (
    <details class="headers">
      <summary>
        {counted(lines.length, "header")} <span class="quiet">without secrets and signatures</span>
      </summary>
      <dl class="facts mono">
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <ExactText of={value} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
