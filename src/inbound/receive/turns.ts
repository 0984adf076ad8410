/** Runs works with the same key one after the other. A failed one does not keep the next from running. */
type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) last.delete(key);
    }
  };
}
