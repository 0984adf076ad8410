/** Counts the turns of the event loop until it is disposed of. */
export function turns() {
  let count = 0;
  let timer = setImmediate(function next() {
    count += 1;
    timer = setImmediate(next);
  });
  return { now: () => count, [Symbol.dispose]: () => clearImmediate(timer) };
}
