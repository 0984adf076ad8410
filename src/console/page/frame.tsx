import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { markUri } from "../../web/mark.ts";

import { signedInAs } from "./kit/actor.tsx";
import { ago } from "./kit/durations.ts";
import { reconnect } from "./kit/feed.ts";
import { useLive } from "./kit/live.ts";
import { type View, viewGroups, writeRoute } from "./kit/route.ts";
import { signOut } from "./kit/sign-out.ts";
import { Text } from "./kit/text.tsx";
import { canOpen, icons, titles } from "./kit/views.ts";
import type { SessionInfo } from "./kit/wire.ts";

interface FrameParts {
  readonly session: SessionInfo;
  readonly view: View | null;
  /** The number of open issues. */
  readonly issues: number;
  readonly showHelp: () => void;
  readonly showPalette: () => void;
  readonly skip: () => void;
  readonly children: ComponentChildren;
}

/** The side bar beside the page. A narrow window has a bar at the bottom, which opens the side bar. */
export function Frame({
  session,
  view,
  issues,
  showHelp,
  showPalette,
  skip,
  children,
}: FrameParts) {
  const [isOpen, setOpen] = useState(false);
  useFavicon(issues > 0);
  useEffect(() => {
    const close = () => setOpen(false);
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  const links = { view, issues };
  return (
    <div class={isOpen ? "frame menu-open" : "frame"}>
      <button type="button" class="skip" onClick={skip}>
        Skip to content
      </button>
      <header class="side" id="side">
        <a class="brand" href={writeRoute("issues")} title="Skyhook">
          <img src={markUri()} width="24" height="24" alt="" />
          <span class="name">Skyhook</span>
        </a>
        <button
          type="button"
          class="to-palette"
          aria-haspopup="dialog"
          aria-keyshortcuts="Control+K Meta+K"
          title="Command palette (Ctrl+K or ⌘K)"
          onClick={() => {
            setOpen(false);
            showPalette();
          }}
        >
          <Icon of={searchIcon} />
          <span class="name">Search</span>
          <kbd class="name">Ctrl K</kbd>
        </button>
        <nav aria-label="Views">
          {viewGroups.map(([group, views]) => {
            const open = views.filter(canOpen);
            return open.length === 0 ? null : (
              <div key={group} role="group" aria-label={group}>
                <span class="group name" aria-hidden="true">
                  {group}
                </span>
                {open.map((each) => (
                  <ViewLink key={each} to={each} {...links} />
                ))}
              </div>
            );
          })}
        </nav>
        <div class="tools">
          <Connection />
          <span class="who name">
            <Text of={`Signed in as ${signedInAs(session.actor, session.roles)}`} />
          </span>
          <button
            type="button"
            aria-label="Keyboard shortcuts"
            title="Keyboard shortcuts (?)"
            onClick={showHelp}
          >
            ?
          </button>
          <SignOut session={session} />
        </div>
      </header>
      {children}
      <ConnectionStatus />
      <nav class="bottom" aria-label="Main views">
        {bottomViews.map((each) => (
          <ViewLink key={each} to={each} {...links} />
        ))}
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls="side"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon of={menuIcon} />
          Menu
        </button>
      </nav>
    </div>
  );
}

/** The bar at the bottom has no room for more. */
const bottomViews = ["issues", "events", "rejections", "destinations"] as const;

const searchIcon = "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14";
const menuIcon = "M2.5 4h11M2.5 8h11M2.5 12h11";

function Icon({ of: path }: { readonly of: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

interface LinkParts extends Pick<FrameParts, "view" | "issues"> {
  readonly to: View;
}

function ViewLink({ to, view, issues }: LinkParts) {
  return (
    <a href={writeRoute(to)} title={titles[to]} aria-current={to === view ? "page" : undefined}>
      <Icon of={icons[to]} />
      <span class="name">{titles[to]}</span>
      {to === "issues" && issues > 0 && (
        <span class="count" aria-label={`${issues} open`}>
          {issues}
        </span>
      )}
    </a>
  );
}

/** The icon of the tab has a red dot while there are issues. */
function useFavicon(hasAlert: boolean): void {
  useEffect(() => {
    document.querySelector("link[rel=icon]")?.setAttribute("href", markUri(hasAlert));
    return () => document.querySelector("link[rel=icon]")?.setAttribute("href", markUri());
  }, [hasAlert]);
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
  if (state.name === "waiting") {
    return (
      <button type="button" class="connection lost" onClick={reconnect} title="Retry now">
        Not connected. Retrying in {secondsTo(state.untilMs)} s
      </button>
    );
  }
  return (
    <span
      class={state.name === "live" ? "connection live" : "connection"}
      title={state.name === "live" ? "New events appear automatically" : undefined}
      aria-hidden="true"
    >
      {state.name === "live" ? "Live" : "Connecting…"}
    </span>
  );
}

/** For screen readers: changes only when the state does, not on every tick or retry. */
function ConnectionStatus() {
  const { state } = useLive();
  const announced = useRef("");
  if (state.name !== "connecting")
    announced.current = state.name === "live" ? "Live" : "Not connected";
  return (
    <span class="hidden-label" role="status">
      {announced.current}
    </span>
  );
}

function secondsTo(timeMs: number): number {
  return Math.max(0, Math.ceil((timeMs - Date.now()) / 1_000));
}

function SignOut({ session: { expiresAt } }: Pick<FrameParts, "session">) {
  return (
    <button
      type="button"
      title={`The session expires ${ago(new Date(expiresAt), Date.now())}`}
      onClick={signOut}
    >
      Sign out
    </button>
  );
}
