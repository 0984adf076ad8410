/** Number formats. */
export const cells = {
  perSecond: (value: number): string => Math.round(value).toLocaleString("en"),
  decimals: (value: number, digits: number): string =>
    Number.isFinite(value) ? value.toFixed(digits) : "–",
  percent: (value: number): string =>
    Number.isFinite(value) ? `${Math.round(value * 100)} %` : "–",
};

/** A Markdown table with aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), title.length),
  );
  const line = (row: readonly string[]): string => {
    const padded = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}
