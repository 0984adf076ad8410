import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Events } from "./events/events.tsx";
import { Rejections } from "./events/rejections.tsx";
import { Frame } from "./frame.tsx";
import { Issues, useIssueCount } from "./health/issues.tsx";
import { AdminsOnly } from "./kit/admins-only.tsx";
import { type ApiError, callApi } from "./kit/api.ts";
import { sessionPath } from "./kit/early.ts";
import { keys, listenToKeys } from "./kit/keys.ts";
import { Page } from "./kit/layout.tsx";
import { LiveContext, useFeed } from "./kit/live.ts";
import { toApiError } from "./kit/load.ts";
import { useRoute } from "./kit/location.ts";
import { NamesContext, useProviderNames } from "./kit/names.ts";
import { type View, writeRoute } from "./kit/route.ts";
import { onOtherTab, onSession, session, signIn } from "./kit/session.ts";
import { Empty, ErrorMessage, Notices } from "./kit/ui.tsx";
import { canOpen, titles, type ViewParts } from "./kit/views.ts";
import type { SessionInfo } from "./kit/wire.ts";
import { later, loadOthers } from "./later.tsx";
import { Palette } from "./palette.tsx";
import { AskName } from "./session/ask-name.tsx";
import { SignIn, takeCode, takePlace } from "./session/sign-in.tsx";

export function App() {
  const [current, setCurrent] = useState(session);
  const [error, setError] = useState<ApiError | null>(null);
  const load = () => {
    callApi<SessionInfo>(sessionPath).then(
      (found) => {
        setError(null);
        // When the page opens, the session may come from a sign-in elsewhere, of which other tabs do not know.
        if (found.id !== session()?.id) signIn(found, session() === undefined);
      },
      (cause: unknown) => {
        // Without a session, the page is that to sign in.
        const failed = toApiError(cause);
        setError(failed.status === 401 ? null : failed);
      },
    );
  };
  useEffect(() => onSession(() => setCurrent(session())), []);
  useEffect(() => onOtherTab(load), []);
  useEffect(load, []);
  const isOpening = current === undefined && error === null;
  useLayoutEffect(() => {
    // What the page shows before this script.
    if (!isOpening) document.querySelector("#opening")?.remove();
  }, [isOpening]);
  return (
    <>
      {current === undefined && error !== null && <ErrorMessage error={error} retry={load} />}
      {current === null && <SignIn />}
      {current && <Console key={current.id} session={current} />}
      <Notices />
    </>
  );
}

function Console({ session: current }: { readonly session: SessionInfo }) {
  // A session exists already: ignore a one-time code, but remove it from the address.
  takeCode();
  takePlace();
  const route = useRoute();
  const live = useFeed(current.id);
  const issues = useIssueCount();
  const help = useRef<HTMLDialogElement>(null);
  const palette = useRef<HTMLDialogElement>(null);
  const showHelp = () => help.current?.showModal();
  const showPalette = () => palette.current?.showModal();
  useEffect(() => listenToKeys({ showHelp, showPalette }), []);
  useEffect(() => {
    // By then the first view has its data. A view that opens shows a failure.
    const timer = setTimeout(() => loadOthers().catch(() => {}), 1_000);
    return () => clearTimeout(timer);
  }, []);
  const title = route === null ? "Page not found" : titles[route.view];
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Skyhook`;
    // The focused element may have been removed with the previous view.
    const isFocusLost = !isFirst.current && document.activeElement === document.body;
    if (isFocusLost) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  return (
    <LiveContext.Provider value={live}>
      <NamesContext.Provider value={useProviderNames()}>
        <Frame
          session={current}
          view={route?.view ?? null}
          issues={issues}
          showHelp={showHelp}
          showPalette={showPalette}
          skip={() => main.current?.focus()}
        >
          <main id="main" tabIndex={-1} ref={main}>
            {route === null ? <NotFound /> : <CurrentView route={route} />}
          </main>
        </Frame>
        <dialog ref={help} aria-labelledby="help-title">
          <form method="dialog">
            <h2 id="help-title">Keyboard shortcuts</h2>
            <dl class="keys">
              {keys.map(([key, meaning]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
            <button type="submit">Close</button>
          </form>
        </dialog>
        <Palette dialog={palette} showHelp={showHelp} />
        <AskName session={current} />
      </NamesContext.Provider>
    </LiveContext.Provider>
  );
}

const contents: Readonly<Record<View, ComponentType<ViewParts>>> = {
  issues: Issues,
  events: Events,
  rejections: Rejections,
  health: later("HealthView"),
  providers: later("ProvidersView"),
  destinations: later("Destinations"),
  flights: later("Flights"),
  bookings: later("Bookings"),
  people: later("People"),
  audit: later("AuditView"),
  access: later("Access"),
  replays: later("Replays"),
};

function CurrentView({ route }: ViewParts) {
  if (!canOpen(route.view)) {
    return (
      <Page title={titles[route.view]}>
        <AdminsOnly />
      </Page>
    );
  }
  const Content = contents[route.view];
  return <Content route={route} />;
}

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        <p>
          Check the address or <a href={writeRoute("events")}>go to Events</a>.
        </p>
      </Empty>
    </Page>
  );
}
