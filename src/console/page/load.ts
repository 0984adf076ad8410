import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, ask } from "./api.ts";
import { useLive } from "./live.ts";

/** Something asked for: not there yet, there, or not to be had; an old answer stays while a new one comes. */
export interface Loaded<Answer> {
  readonly value: Answer | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
  readonly set: (value: Answer) => void;
}

interface Options {
  /** Whether the answer to an earlier path is shown until that to the new one is there. */
  readonly keep?: boolean;
}

/** Asks for `path` whenever it changes; null asks for nothing. */
export function useLoad<Answer>(
  path: string | null,
  { keep = false }: Options = {},
): Loaded<Answer> {
  const [held, setHeld] = useState<{ path: string | null; value: Answer | null }>({
    path: null,
    value: null,
  });
  const [error, setError] = useState<ApiError | null>(null);
  const asking = useRef<AbortController | null>(null);

  const reload = useCallback(() => {
    asking.current?.abort();
    if (path === null) return;
    const mine = new AbortController();
    asking.current = mine;
    ask<Answer>(path, { signal: mine.signal }).then(
      (value) => {
        if (mine.signal.aborted) return;
        setHeld({ path, value });
        setError(null);
      },
      (failure: unknown) => {
        if (!mine.signal.aborted) setError(faultOf(failure));
      },
    );
  }, [path]);

  useEffect(() => {
    setError(null);
    reload();
    return () => asking.current?.abort();
  }, [reload]);

  // What no server answered is asked again when there is one: nobody has to press a button.
  const { news } = useLive();
  useEffect(() => void (error?.status === 0 && reload()), [news]);

  const set = useCallback((value: Answer) => setHeld({ path, value }), [path]);
  return { value: keep || held.path === path ? held.value : null, error, reload, set };
}

export function faultOf(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  return new ApiError(0, "page", failure instanceof Error ? failure.message : String(failure));
}
