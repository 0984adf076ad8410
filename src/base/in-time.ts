/** Awaits a promise for `ms`, and then returns or throws what `onLate` does. */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  ms: number,
  onLate: () => Value,
): Promise<Value> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    // oxlint-disable-next-line no-restricted-properties -- Both promises end with the call.
    return await Promise.race([promise, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Awaits work that cannot be aborted, such as a DNS lookup. Throws the signal's reason when it aborts. */
export async function unlessAborted<Value>(
  signal: AbortSignal,
  promise: Promise<Value>,
): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    // oxlint-disable-next-line no-restricted-properties -- Both promises end with the call.
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
