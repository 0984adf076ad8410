import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, callApi } from "./api.ts";
import { useLive } from "./live.ts";

/** The state of a request. */
export interface Loaded<Answer> {
  /** Null until the first response; kept while reloading and after a failed reload. */
  readonly value: Answer | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
  readonly set: (value: Answer) => void;
}

interface Options {
  /** Whether to keep the value of the previous path until the new one has loaded. */
  readonly keep?: boolean;
}

/** Loads `path`, and again whenever it changes. Null loads nothing. */
export function useLoad<Answer>(
  path: string | null,
  { keep = false }: Options = {},
): Loaded<Answer> {
  const [held, setHeld] = useState<{ path: string | null; value: Answer | null }>({
    path: null,
    value: null,
  });
  const [error, setError] = useState<ApiError | null>(null);
  const pending = useRef<AbortController | null>(null);

  const reload = useCallback(() => {
    pending.current?.abort();
    if (path === null) return;
    const controller = new AbortController();
    pending.current = controller;
    callApi<Answer>(path, { signal: controller.signal }).then(
      (value) => {
        if (controller.signal.aborted) return;
        setHeld({ path, value });
        setError(null);
      },
      (cause: unknown) => {
        if (!controller.signal.aborted) setError(toApiError(cause));
      },
    );
  }, [path]);

  useEffect(() => {
    setError(null);
    reload();
    return () => pending.current?.abort();
  }, [reload]);

  // The feed reports news after it has reconnected: retry requests that did not reach the server.
  const { news } = useLive();
  useEffect(() => void (error?.status === 0 && reload()), [news]);

  const set = useCallback(
    (value: Answer) => {
      // A response that is still on its way may be older.
      pending.current?.abort();
      setHeld({ path, value });
    },
    [path],
  );
  return { value: keep || held.path === path ? held.value : null, error, reload, set };
}

export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(0, "page", cause instanceof Error ? cause.message : String(cause));
}
