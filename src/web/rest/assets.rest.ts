import { Elysia } from "elysia";

import type { Asset } from "../asset.ts";

/** Serves each asset at its path. The routes are hidden from the API reference. */
export function assetsRest(name: string, assets: Readonly<Record<string, Asset>>): Elysia {
  const app = new Elysia({ name });
  for (const [path, serve] of Object.entries(assets)) {
    app.get(path, ({ request }) => serve(request), { detail: { hide: true } });
  }
  return app;
}
