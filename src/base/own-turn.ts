/** Resolves in a turn of the event loop in which no other call of the same function does. */
export type OwnTurn = () => Promise<void>;

/** Gives each caller its own turn of the event loop, so that other requests run between their blocking work. */
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
