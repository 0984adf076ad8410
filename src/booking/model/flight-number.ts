/** An airline code (IATA: two characters, not both digits; ICAO: three letters), a number, an optional suffix. */
const pattern = /^((?!\d\d)[A-Z0-9]{2}|[A-Z]{3})0*(\d{1,4}[A-Z]?)$/;

/** The flight number as it is stored, without leading zeros: `ba 0117` is `BA117`. Null if the text is none. */
export function flightNumberIn(text: string): string | null {
  const [, airline, number] = pattern.exec(text.replaceAll(" ", "").toUpperCase()) ?? [];
  return airline === undefined || number === undefined ? null : `${airline}${number}`;
}
