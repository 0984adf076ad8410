import { useEffect, useRef, useState } from "preact/hooks";

import { Bookings } from "./bookings.tsx";
import { ago } from "./durations.ts";
import { Events } from "./events.tsx";
import { reconnect } from "./feed.ts";
import { Flights } from "./flights.tsx";
import { HealthView } from "./health.tsx";
import { keys, listenToKeys } from "./keys.ts";
import { LiveContext, useFeed, useLive } from "./live.ts";
import { ProvidersView } from "./providers.tsx";
import { Rejections } from "./rejections.tsx";
import { type Route, useRoute, type View, views, writeRoute } from "./route.ts";
import { onSession, readToken, signOut, token } from "./session.ts";
import { SignIn, takeCode } from "./sign-in.tsx";
import { setTheme, theme } from "./theme.ts";
import { Empty, Notices } from "./ui.tsx";

export function App() {
  const [current, setCurrent] = useState(token);
  useEffect(() => onSession(() => setCurrent(token())), []);
  return (
    <>
      {current === null ? <SignIn /> : <Console key={current} token={current} />}
      <Notices />
    </>
  );
}

const titles: Readonly<Record<View, string>> = {
  events: "Events",
  rejections: "Rejected",
  health: "Health",
  providers: "Providers",
  flights: "Flights",
  bookings: "Bookings",
};

function Console({ token: bearer }: { readonly token: string }) {
  // A session exists already: ignore a one-time code, but remove it from the address.
  takeCode();
  const route = useRoute();
  const live = useFeed(bearer);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => listenToKeys(() => help.current?.showModal()), []);
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
      <div class="frame">
        <header class="top">
          <button type="button" class="skip" onClick={() => main.current?.focus()}>
            Skip to content
          </button>
          <a class="brand" href={writeRoute("events")}>
            Skyhook
          </a>
          <nav aria-label="Views">
            {views
              .filter((view) => canOpen(view, bearer))
              .map((view) => (
                <a
                  key={view}
                  href={writeRoute(view)}
                  aria-current={view === route?.view ? "page" : undefined}
                >
                  {titles[view]}
                </a>
              ))}
          </nav>
          <div class="tools">
            <Connection />
            <ThemeSwitch />
            <button
              type="button"
              aria-label="Keyboard shortcuts"
              title="Keyboard shortcuts (?)"
              onClick={() => help.current?.showModal()}
            >
              ?
            </button>
            <SignOut token={bearer} />
          </div>
        </header>
        <main id="main" tabIndex={-1} ref={main}>
          {route === null ? <NotFound /> : <CurrentView route={route} token={bearer} />}
        </main>
      </div>
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
    </LiveContext.Provider>
  );
}

/** Only admins may see bookings. The API enforces it; this only hides the view. */
function canOpen(view: View, bearer: string): boolean {
  return view !== "bookings" || readToken(bearer).roles.includes("admin");
}

function CurrentView({ route, token: bearer }: { readonly route: Route; readonly token: string }) {
  if (!canOpen(route.view, bearer)) return <AdminsOnly view={route.view} />;
  switch (route.view) {
    case "events":
      return <Events route={route} />;
    case "rejections":
      return <Rejections route={route} />;
    case "health":
      return <HealthView route={route} />;
    case "providers":
      return <ProvidersView />;
    case "bookings":
      return <Bookings route={route} />;
    case "flights":
      return <Flights route={route} />;
  }
}

function AdminsOnly({ view }: { readonly view: View }) {
  return (
    <div class="page">
      <header class="bar">
        <h1>{titles[view]}</h1>
      </header>
      <Empty title="Admins only">
        <p>
          To get a sign-in link for the admin role, run <code>skyhook console --role admin</code>.
        </p>
      </Empty>
    </div>
  );
}

function NotFound() {
  return (
    <div class="page">
      <header class="bar">
        <h1>Page not found</h1>
      </header>
      <Empty title="This page does not exist">
        <p>
          Check the address or <a href={writeRoute("events")}>go to Events</a>.
        </p>
      </Empty>
    </div>
  );
}

/** The state of the live feed. While it is disconnected, a click retries at once. */
function Connection() {
  const { state } = useLive();
  const [, tick] = useState(0);
  useEffect(() => {
    if (state.name !== "waiting") return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [state]);
  const announced = useRef("");
  if (state.name !== "connecting")
    announced.current = state.name === "live" ? "Live" : "Not connected";
  return (
    <>
      {/* For screen readers: changes only when the state does, not on every tick or retry. */}
      <span class="hidden-label" role="status">
        {announced.current}
      </span>
      {state.name === "waiting" ? (
        <button type="button" class="connection lost" onClick={reconnect} title="Retry now">
          Not connected. Retrying in {secondsTo(state.untilMs)} s
        </button>
      ) : (
        <span
          class={state.name === "live" ? "connection live" : "connection"}
          title={state.name === "live" ? "New events appear automatically" : undefined}
          aria-hidden="true"
        >
          {state.name === "live" ? "Live" : "Connecting…"}
        </span>
      )}
    </>
  );
}

function secondsTo(timeMs: number): number {
  return Math.max(0, Math.ceil((timeMs - Date.now()) / 1_000));
}

function ThemeSwitch() {
  const [chosen, setChosen] = useState(theme);
  const next = chosen === null ? "dark" : chosen === "dark" ? "light" : null;
  const name = chosen ?? "system";
  return (
    <button
      type="button"
      aria-label={`Theme: ${name}`}
      title={`Theme: ${name}. Switch to ${next ?? "system"}.`}
      onClick={() => {
        setTheme(next);
        setChosen(next);
      }}
    >
      <span aria-hidden="true">{chosen === null ? "◐" : chosen === "dark" ? "●" : "○"}</span>
    </button>
  );
}

function SignOut({ token: bearer }: { readonly token: string }) {
  const { roles, expiresAt } = readToken(bearer);
  const expiry = expiresAt === null ? "" : `. Session expires ${ago(expiresAt, Date.now())}.`;
  return (
    <button
      type="button"
      title={`Signed in as ${roles.join(", ") || "operator"}${expiry}`}
      onClick={() => signOut("signed-out")}
    >
      Sign out
    </button>
  );
}
