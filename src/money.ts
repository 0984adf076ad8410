/** An amount as the world sees it: a JSON number in major units, and an ISO 4217 code. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}
