import { type Attempt, now, plain, type Row, type Signer, today, yesterday } from "./signer.ts";

/** Rows for schemes whose header can hold several signatures. */
export function severalRows(by: Signer): readonly Row[] {
  const { items, timestamp } = by.scheme;
  if (items === undefined) return [];
  const { separator, signature: prefix } = items;
  const right = prefix + by.encoded(plain);
  const old = prefix + by.encoded(plain, { secret: yesterday });
  const wrong = prefix + by.encoded(plain, { secret: "wrong" });
  const wrongs = (count: number): string[] => Array<string>(count).fill(wrong);
  const time = timestamp?.item === undefined ? [] : [`${timestamp.item}${by.timeOf(now)}`];
  const list = (...parts: readonly string[]): Attempt => ({
    header: [...time, ...parts].join(separator),
  });
  const legacy = `z${right}`;
  const malformed = "malformed-signature";
  const rotating = by.secrets(today, yesterday);
  // The secrets of a published key differ in the signed text only.
  const isOld = by.scheme.kind === "hmac" || by.scheme.key === undefined;
  return [
    ["the right one first", "current", list(right, wrong, wrong)],
    ["the right one in the middle", "current", list(wrong, right, wrong)],
    ["the right one last", "current", list(wrong, wrong, right)],
    ["none of them right", "wrong-signature", list(wrong, wrong, wrong)],
    ["eight, the right one last", "current", list(...wrongs(7), right)],
    ["nine, the right one first", "several-signatures", list(right, ...wrongs(8))],
    ["nine, the right one last", "several-signatures", list(...wrongs(8), right)],
    ["malformed beside the right one", "current", list(`${prefix}zz`, right, prefix)],
    ["all of them malformed", malformed, list(`${prefix}zz`, prefix)],
    ["malformed beside a wrong one", "wrong-signature", list(`${prefix}zz`, wrong)],
    ["of both secrets", "current", { ...list(old, right), secrets: rotating }],
    ...(isOld
      ? ([
          [
            "of the previous secret beside a wrong one",
            "previous",
            { ...list(wrong, old), secrets: rotating },
          ],
          ["of the previous secret once it is retired", "wrong-signature", list(old)],
        ] as const)
      : []),
    ["no signature", "missing-signature", list()],
    ["another version only", "missing-signature", list(legacy)],
    ["in upper case", "missing-signature", list(prefix.toUpperCase() + right.slice(prefix.length))],
    ["another version right, this one wrong", "wrong-signature", list(legacy, wrong)],
    ["another version wrong, this one right", "current", list(legacy.slice(0, 5), right)],
    ["unknown items", "current", list("x9=zz", "scheme", "=", right, "te=1")],
    ["empty items", "current", list("", right, "", "")],
    ["time after them", "current", { header: [right, ...time].join(separator) }],
    ...(separator === " " ? [] : spacedRows(by, prefix, time, right, wrong)),
  ];
}

function spacedRows(
  by: Signer,
  prefix: string,
  time: readonly string[],
  right: string,
  wrong: string,
): readonly Row[] {
  const separator = by.scheme.items?.separator ?? ",";
  const spaced = [...time, wrong, right].join(` ${separator} \t`);
  const other = separator === "," ? ";" : ",";
  // The comma and space of a repeated header mean several headers elsewhere.
  const apart = [...time, `${prefix} ${right.slice(prefix.length)}`].join(separator);
  return [
    ["a space after the prefix", "malformed-signature", { header: apart }],
    [
      "spaces and tabs around items",
      "current",
      { header: [...time, wrong, right].join(`\t${separator}\t`) },
    ],
    ...(separator === ","
      ? ([["spaces around items", "current", { header: spaced }]] as const)
      : []),
    ["another separator", "rejected", { header: [...time, right, wrong].join(other) }],
  ];
}
