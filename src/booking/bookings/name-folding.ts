import type { Passenger } from "../model/booking.ts";

/**
 * A name without regard to case, also of letters beyond ASCII, which SQLite's `lower` does not change. Upper case
 * first: `ß` has no upper-case letter of its own but `SS`.
 */
export function foldedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** What is stored of a folded name: null where the database's `lower` returns the same. */
export function storedFolding(lastName: string): Passenger["lastNameFolded"] {
  return /^[ -~]*$/.test(lastName) ? null : foldedName(lastName);
}
