import { counted, type Of, Text } from "../text.tsx";

import type { JsonMember, JsonNode } from "./json.ts";

/** Values deeper than this are folded at first. */
const openDepth = 3;

/** JSON in colours, whose objects and lists fold. */
export function Json({ of: node }: Of<JsonNode>) {
  return (
    <div class="json" role="region" aria-label="Body, pretty">
      <Member of={{ key: null, value: node }} depth={0} isLast />
    </div>
  );
}

interface Parts {
  readonly of: JsonMember;
  readonly depth: number;
  readonly isLast: boolean;
}

function Member({ of: { key, value }, depth, isLast }: Parts) {
  const comma = isLast ? "" : ",";
  const name = key !== null && (
    <>
      <span class="json-key">
        <Text of={key} />
      </span>
      {": "}
    </>
  );
  if ("text" in value) {
    return (
      <div class="json-line">
        {name}
        <span class={`json-${kindOf(value.text)}`}>
          <Text of={value.text} />
        </span>
        {comma}
      </div>
    );
  }
  const { isList, members } = value;
  return (
    <details open={depth < openDepth}>
      <summary>
        {name}
        {isList ? "[" : "{"}
        <span class="json-folded">
          {counted(members.length, isList ? "value" : "member")}
          {isList ? "]" : "}"}
          {comma}
        </span>
      </summary>
      <div class="json-members">
        {members.map((member, index) => (
          <Member key={index} of={member} depth={depth + 1} isLast={index === members.length - 1} />
        ))}
      </div>
      <div class="json-line">
        {isList ? "]" : "}"}
        {comma}
      </div>
    </details>
  );
}

function kindOf(text: string): "string" | "number" | "literal" {
  if (text.startsWith('"')) return "string";
  return /^[-\d]/.test(text) ? "number" : "literal";
}
