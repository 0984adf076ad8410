/** Resolves in a turn of the event loop in which no other call of the same function does. */
export type OwnTurn = () => Promise<void>;

/** For work that blocks the event loop for a while, and that many callers can ask for at once: other requests run in between. */
export function ownTurns(): OwnTurn {
  let last = Promise.resolve();
  return () => {
    last = last.then(nextTurn);
    return last;
  };
}

/** Resolves after the requests that wait for the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
