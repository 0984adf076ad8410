import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, callApi } from "./api.ts";
import { useNews } from "./live.ts";

/** The state of a request. */
export interface Loaded<Answer> {
  /** Null until the first response; kept while reloading and after a failed reload. */
  readonly value: Answer | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
  readonly set: (value: Answer) => void;
}

interface Options {
  /** Whether to keep the value and the error of the previous request until the new one is answered. */
  readonly keep?: boolean;
  /** The body to post; by default the request is a GET. */
  readonly body?: object;
}

/** Loads `path`, and again whenever it or the body changes. Null loads nothing. */
export function useLoad<Answer>(
  path: string | null,
  { keep = false, body }: Options = {},
): Loaded<Answer> {
  const key = path === null ? null : `${path} ${JSON.stringify(body)}`;
  const [held, setHeld] = useState<{ key: string | null; value: Answer | null }>({
    key: null,
    value: null,
  });
  const [error, setError] = useState<ApiError | null>(null);
  const pending = useRef<AbortController | null>(null);

  const reload = useCallback(() => {
    pending.current?.abort();
    if (path === null) return;
    const controller = new AbortController();
    pending.current = controller;
    const { signal } = controller;
    const options = body === undefined ? { signal } : { method: "POST" as const, body, signal };
    callApi<Answer>(path, options).then(
      (value) => {
        if (signal.aborted) return;
        setHeld({ key, value });
        setError(null);
      },
      (cause: unknown) => {
        if (!signal.aborted) setError(toApiError(cause));
      },
    );
  }, [key]);

  useEffect(() => {
    if (!keep) setError(null);
    reload();
    return () => pending.current?.abort();
  }, [reload]);

  // The feed reports news after it has reconnected: retry requests that did not reach the server.
  useNews(() => error?.status === 0 && reload());

  const set = useCallback(
    (value: Answer) => {
      // A response that is still on its way may be older.
      pending.current?.abort();
      setHeld({ key, value });
    },
    [key],
  );
  return { value: keep || held.key === key ? held.value : null, error, reload, set };
}

export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(0, "page", cause instanceof Error ? cause.message : String(cause));
}
