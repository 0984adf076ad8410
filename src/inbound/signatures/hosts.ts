/** A region of AWS, such as `us-west-2` or `us-gov-east-1`. No label of an S3 host is one. */
const region = /^[a-z]{2,}(?:-[a-z]+)+-\d+$/;

/**
 * Whether a host matches a pattern, in which `*` stands for one label and `{region}` for an AWS region: `sns.{region}.amazonaws.com`.
 * There, `*` would also match `sns.s3.amazonaws.com`, a bucket that anyone can own.
 */
export function hostMatches(pattern: string, host: string): boolean {
  const [wanted, labels] = [pattern.split("."), host.toLowerCase().split(".")];
  return (
    wanted.length === labels.length &&
    wanted.every((label, index) => labelMatches(label, labels[index] ?? ""))
  );
}

function labelMatches(wanted: string, label: string): boolean {
  if (wanted === "{region}") return region.test(label);
  return wanted === "*" || wanted === label;
}

/** Whether a path matches a pattern, in which `{hex}` stands for lower-case hexadecimal digits. */
export function pathMatches(pattern: string, path: string): boolean {
  const [before = "", after] = pattern.split("{hex}");
  if (after === undefined) return path === pattern;
  const isFramed = path.startsWith(before) && path.endsWith(after);
  return isFramed && /^[0-9a-f]+$/.test(path.slice(before.length, path.length - after.length));
}
