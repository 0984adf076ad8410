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
  flights: "Flights",
  bookings: "Bookings",
};

function Console({ token: held }: { readonly token: string }) {
  // Somebody is signed in already: a code has no place in the address all the same.
  takeCode();
  const route = useRoute();
  const live = useFeed(held);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => listenToKeys(() => help.current?.showModal()), []);
  const title = route === null ? "No such page" : names[route.view];
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Skyhook`;
    // What had the focus may have gone with the view before.
    const isLost = !isFirst.current && document.activeElement === document.body;
    if (isLost) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  return (
    <LiveContext.Provider value={live}>
      <div class="frame">
        <header class="top">
          <button type="button" class="skip" onClick={() => main.current?.focus()}>
            Skip to the content
          </button>
          <a class="brand" href={writeRoute("events")}>
            Skyhook
          </a>
          <nav aria-label="Views">
            {views
              .filter((view) => mayOpen(view, held))
              .map((view) => (
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
        <main id="main" tabIndex={-1} ref={main}>
          {route === null ? <NoSuchPage /> : <Shown route={route} token={held} />}
        </main>
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

/** Bookings are for admins. */
function mayOpen(view: View, held: string): boolean {
  return view !== "bookings" || readToken(held).roles.includes("admin");
}

function Shown({ route, token: held }: { readonly route: Route; readonly token: string }) {
  if (!mayOpen(route.view, held)) return <ForAdmins view={route.view} />;
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

function ForAdmins({ view }: { readonly view: View }) {
  return (
    <div class="page">
      <header class="bar">
        <h1>{names[view]}</h1>
      </header>
      <Empty title="This view is for admins">
        <p>
          Sign in with the role admin: <code>skyhook console --role admin</code> prints a link.
        </p>
      </Empty>
    </div>
  );
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
  const said = useRef("");
  if (state.name !== "connecting") said.current = state.name === "live" ? "Live" : "Not connected";
  return (
    <>
      {/* Said when it has changed: neither every second nor with every try. */}
      <span class="hidden-label" role="status">
        {said.current}
      </span>
      {state.name === "waiting" ? (
        <button type="button" class="connection lost" onClick={reconnect} title="Try again now">
          Not connected, again in {secondsTo(state.untilMs)} s
        </button>
      ) : (
        <span
          class={state.name === "live" ? "connection live" : "connection"}
          title={state.name === "live" ? "New events appear by themselves" : undefined}
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
      title={`Signed in as ${roles.join(", ") || "operator"}${until}`}
      onClick={() => signOut("signed-out")}
    >
      Sign out
    </button>
  );
}
