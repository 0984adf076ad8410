/** Whether tests try all cases, as they do by night. */
export const isFull = process.env["FULL_PROPERTIES"] === "1";

/** The number of runs of a property: a fifth of `full`, or all of them with FULL_PROPERTIES=1. */
export const runs = (full: number): number => (isFull ? full : Math.ceil(full / 5));
