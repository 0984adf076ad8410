/** Returns the error that a promise rejects with. Throws if it resolves. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise was not rejected");
}

/** The message of the error that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await failure(promise);
  return error instanceof Error ? error.message : "";
}

/** Returns the error of a class that a call throws; null if it throws none. Throws any other. */
export function thrown<Thrown extends Error>(
  kind: abstract new (...args: never[]) => Thrown,
  call: () => unknown,
): Thrown | null {
  try {
    call();
    return null;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
}
