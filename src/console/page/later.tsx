import { useEffect, useState } from "preact/hooks";

import type { ApiError } from "./kit/api.ts";
import { Page } from "./kit/layout.tsx";
import { useNews } from "./kit/live.ts";
import { toApiError } from "./kit/load.ts";
import { Waiting } from "./kit/ui.tsx";
import { titles, type ViewParts } from "./kit/views.ts";

type Others = typeof import("./others.ts").others;

let others: Others | null = null;

/** Loads half of the console's code, for which its first page does not wait. */
export async function loadOthers(): Promise<Others> {
  return (others ??= (await import("./others.ts")).others);
}

/** A view that may have to load its code first. */
export const later = (name: keyof Others) =>
  function Later(parts: ViewParts) {
    const [loaded, setLoaded] = useState(others);
    const [error, setError] = useState<ApiError | null>(null);
    const reload = () =>
      void loadOthers().then(setLoaded, (cause: unknown) => setError(toApiError(cause)));
    useEffect(reload, []);
    useNews(() => error !== null && reload());
    if (loaded === null) {
      return (
        <Page title={titles[parts.route.view]}>
          <Waiting for={{ value: null, error, reload }} what={titles[parts.route.view]} />
        </Page>
      );
    }
    const View = loaded[name];
    return <View {...parts} />;
  };
