import { useMemo, useState } from "preact/hooks";

import { prettyJson } from "../../../../base/json-text.ts";
import { CopyButton } from "../copy.tsx";
import { counted, ExactText, type Of, Text } from "../text.tsx";

import { Json } from "./json-view.tsx";
import { jsonTree, maxDepth } from "./json.ts";

interface Bytes {
  readonly body: string;
  readonly bodyEncoding: "utf-8" | "base64";
}

/** Longer bodies are cut here until the reader chooses to show all. */
const previewCharacters = 40_000;

/** A request body: formatted as JSON, or exactly as received. */
export function Body({ of: { body, bodyEncoding } }: Of<Bytes>) {
  const pretty = useMemo(
    () => (bodyEncoding === "utf-8" ? prettyJson(body, maxDepth) : null),
    [body, bodyEncoding],
  );
  const tree = useMemo(() => (pretty === null ? null : jsonTree(body)), [body, pretty]);
  const [chosen, setChosen] = useState<"pretty" | "raw">("pretty");
  const [isWhole, setIsWhole] = useState(false);
  const mode = pretty === null ? "raw" : chosen;
  const text = mode === "pretty" ? (pretty ?? "") : bodyEncoding === "utf-8" ? body : hexDump(body);
  const shown = isWhole ? text : text.slice(0, previewCharacters);
  const isCut = !isWhole && text.length > previewCharacters;
  return (
    <div class="body">
      <div class="toolbar">
        <div class="tabs" role="group" aria-label="Body format">
          {pretty !== null && (
            <button
              type="button"
              aria-pressed={mode === "pretty"}
              onClick={() => setChosen("pretty")}
            >
              Pretty
            </button>
          )}
          <button type="button" aria-pressed={mode === "raw"} onClick={() => setChosen("raw")}>
            {bodyEncoding === "utf-8" ? "Raw" : "Raw (hex)"}
          </button>
        </div>
        <CopyButton label="Copy body" text={() => body} />
      </div>
      {tree !== null && mode === "pretty" ? (
        <Json of={tree} />
      ) : (
        <pre aria-label={`Body, ${mode}`} role="region">
          {mode === "pretty" ? <Text of={shown} /> : <ExactText of={shown} />}
        </pre>
      )}
      {isCut && !(tree !== null && mode === "pretty") && (
        <button type="button" onClick={() => setIsWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}

/** A hex dump with 16 bytes per line: offset, bytes, printable characters. */
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

/** Request headers as received. The API leaves out secrets and signatures. */
export function Headers({
  of: headers,
  isOpen = false,
}: {
  readonly of: Readonly<Record<string, string>>;
  readonly isOpen?: boolean;
}) {
  const lines = Object.entries(headers);
  return (
    <details class="headers" open={isOpen}>
      <summary>
        {counted(lines.length, "header")} <span class="quiet">Secrets and signatures omitted</span>
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
