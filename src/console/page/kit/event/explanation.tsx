import { type Of, Text } from "../text.tsx";
import type { PreviewItem } from "../wire.ts";

/** The clause of a filter that does not match, and the values that it read. */
export function Explanation({
  of: { clause, values },
}: Of<NonNullable<PreviewItem["explanation"]>>) {
  const read = Object.entries(values);
  return (
    <span>
      <code>
        <Text of={clause} />
      </code>
      {read.length > 0 && " is false: "}
      {read.map(([name, value], index) => (
        <>
          {index > 0 && ", "}
          <code>{name}</code> is{" "}
          <code>
            <Text of={JSON.stringify(value)} />
          </code>
        </>
      ))}
    </span>
  );
}
