/**
 * The processor time of this thread that `work` takes, in milliseconds: the least of up to five tries, because a busy
 * machine or a collection of garbage makes some longer. Tries end when one takes at most `enoughMs`.
 * Never less than 1: some clocks do not show less.
 */
export async function leastMs(work: () => unknown, enoughMs = 0): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 5 && least > enoughMs; tries += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return Math.max(least, 1);
}

/** How many times the processor time of `usual` `work` takes. Exact only above `enough`. */
export async function timesAsLong(usual: () => unknown, work: () => unknown, enough: number) {
  const usualMs = await leastMs(usual);
  return (await leastMs(work, enough * usualMs)) / usualMs;
}
