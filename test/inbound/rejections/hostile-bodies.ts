/** Nested JSON arrays, with `inside` in the innermost. */
export const nestedJson = (depth: number, inside: string) =>
  `${"[".repeat(depth)}${inside}${inside && "1"}${"]".repeat(depth)}`;

/** The CPU time of `work`, which other load on the machine does not affect. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
