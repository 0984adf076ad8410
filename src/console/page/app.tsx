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
import { Refused } from "./refused.tsx";
import { type Route, useRoute, type View, views, writeRoute } from "./route.ts";
import { onSession, readToken, signOut, token } from "./session.ts";
import { SignIn, takeCode } from "./sign-in.tsx";
import { setTheme, theme } from "./theme.ts";
import { Empty, Notices } from "./ui.tsx";

export function App() {
  const [held, setHeld] = useState(token);
  useEffect(() => onSession(() => setHeld(token())), []);
  return (
    <>
      {held === null ? <SignIn /> : <Console key={held} token={held} />}
      <Notices />
    </>
  );
}

const names: Readonly<Record<View, string>> = {
  events: "Events",
  refused: "Refused",
  health: "Health",
  providers: "Providers",
  bookings: "Bookings",
  flights: "Flights",
};

function Console({ token: held }: { readonly token: string }) {
  // Somebody is signed in already: a code has no place in the address all the same.
  takeCode();
  const route = useRoute();
  const live = useFeed(held);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => listenToKeys(() => help.current?.showModal()), []);
  const title = route === null ? "No such page" : names[route.view];
  useEffect(() => void (document.title = `${title} · Skyhook`), [title]);
  return (
    <LiveContext.Provider value={live}>
      <div class="frame">
        <header class="top">
          <a class="brand" href={writeRoute("events")}>
            Skyhook
          </a>
          <nav aria-label="Views">
            {views.map((view) => (
              <a
                key={view}
                href={writeRoute(view)}
                aria-current={view === route?.view ? "page" : undefined}
              >
                {names[view]}
              </a>
            ))}
          </nav>
          <div class="tools">
            <Connection />
            <ThemeSwitch />
            <button
              type="button"
              aria-label="Keys"
              title="Keys (?)"
              onClick={() => help.current?.showModal()}
            >
              ?
            </button>
            <Leave token={held} />
          </div>
        </header>
        <main id="main">{route === null ? <NoSuchPage /> : <Shown route={route} />}</main>
      </div>
      <dialog ref={help} aria-labelledby="help-title">
        <form method="dialog">
          <h2 id="help-title">Keys</h2>
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

function Shown({ route }: { readonly route: Route }) {
  switch (route.view) {
    case "events":
      return <Events route={route} />;
    case "refused":
      return <Refused route={route} />;
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

function NoSuchPage() {
  return (
    <div class="page">
      <header class="bar">
        <h1>No such page</h1>
      </header>
      <Empty title="There is no such page">
        <p>
          The address names none of the views above. <a href={writeRoute("events")}>Show events</a>
        </p>
      </Empty>
    </div>
  );
}

/** Whether new things arrive by themselves; a click tries again. */
function Connection() {
  const { state } = useLive();
  const [, tick] = useState(0);
  useEffect(() => {
    if (state.name !== "waiting") return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [state]);
  if (state.name === "live") {
    return (
      <span class="connection live" role="status" title="New events appear by themselves">
        Live
      </span>
    );
  }
  if (state.name === "connecting") {
    return (
      <span class="connection" role="status">
        Connecting…
      </span>
    );
  }
  const seconds = Math.max(0, Math.ceil((state.untilMs - Date.now()) / 1_000));
  return (
    <button type="button" class="connection lost" onClick={reconnect} title="Try again now">
      Not connected, again in {seconds} s
    </button>
  );
}

function ThemeSwitch() {
  const [chosen, setChosen] = useState(theme);
  const next = chosen === null ? "dark" : chosen === "dark" ? "light" : null;
  const name = chosen ?? "as the system";
  return (
    <button
      type="button"
      aria-label={`Colours: ${name}`}
      title={`Colours: ${name}. Next: ${next ?? "as the system"}`}
      onClick={() => {
        setTheme(next);
        setChosen(next);
      }}
    >
      <span aria-hidden="true">{chosen === null ? "◐" : chosen === "dark" ? "●" : "○"}</span>
    </button>
  );
}

function Leave({ token: held }: { readonly token: string }) {
  const { roles, endsAt } = readToken(held);
  const until = endsAt === null ? "" : `, token ends ${ago(endsAt, Date.now())}`;
  return (
    <button
      type="button"
      title={`Signed in as ${roles || "operator"}${until}`}
      onClick={() => signOut("signed-out")}
    >
      Sign out
    </button>
  );
}
