import type { ComponentChildren } from "preact";

import { CopyButton } from "../kit/copy.tsx";
import { ExternalLink } from "../kit/text.tsx";
import type { CatalogueEntry } from "../kit/wire.ts";

interface Parts {
  /** Null if the service is not known yet. */
  readonly of: Pick<CatalogueEntry, "displayName" | "setUp" | "settings" | "docs"> | null;
  /** The URL's path, from the origin. */
  readonly path: string;
  /** Null if it is not set. */
  readonly publicUrl: string | null;
  /** Whether deliveries arrive. */
  readonly badge?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The first step: the URL, and where to enter it. */
export function Address({ of: service, path, publicUrl, badge, children }: Parts) {
  const name = service?.displayName ?? "the service";
  const { setUp = null, settings = null, docs = null } = service ?? {};
  const address = (publicUrl ?? location.origin) + path;
  return (
    <section class="panel" aria-labelledby="address">
      <header class="panel-bar">
        <h2 id="address">1. Enter the URL at {name}</h2>
        {badge}
      </header>
      <p class="copyable">
        <code class="address">{address}</code> <CopyButton label="Copy URL" text={() => address} />
      </p>
      {children}
      {publicUrl === null && (
        <p class="quiet">
          This is the address of this page. If {name} reaches the server at another one, set{" "}
          <code>PUBLIC_URL</code>.
        </p>
      )}
      {setUp !== null && <p>{setUp}</p>}
      {(settings ?? docs) !== null && (
        <p class="links">
          {settings !== null && <ExternalLink to={settings}>Open {name}</ExternalLink>}
          {docs !== null && <ExternalLink to={docs}>Documentation of {name}</ExternalLink>}
        </p>
      )}
    </section>
  );
}
