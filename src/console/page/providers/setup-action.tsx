import { useState } from "preact/hooks";

import type { ApiError } from "../api.ts";
import { toApiError } from "../load.ts";

export function Problem({ error }: { readonly error: ApiError }) {
  return (
    <p class="problems" role="alert">
      {error.message}
    </p>
  );
}

/** Runs one action at a time, and keeps its error. */
export function useAction() {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (action: () => Promise<void>): Promise<void> => {
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await action();
    } catch (cause) {
      setError(toApiError(cause));
    }
    setIsBusy(false);
  };
  return { isBusy, error, run };
}
