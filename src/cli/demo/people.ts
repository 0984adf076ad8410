/** A fictional customer. The domain is reserved (RFC 2606). */
export interface Customer {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
}

const names = [
  ["Noor", "Haddad"],
  ["Jonas", "Lindqvist"],
  ["Mei", "Tanaka"],
  ["Carlos", "Ortega"],
  ["Amina", "Diallo"],
  ["Ruth", "Kessler"],
  ["Tom", "Gallagher"],
  ["Ines", "Moreau"],
  ["Pavel", "Novak"],
  ["Grace", "Okafor"],
  ["Leo", "Marchetti"],
  ["Sofia", "Andersen"],
  ["Daniel", "Weiss"],
] as const;

export const customers: readonly Customer[] = names.map(([firstName, lastName]) => ({
  firstName,
  lastName,
  email: `${firstName}.${lastName}@example.net`.toLowerCase(),
}));

/** Has an account and no booking, and so can be erased. */
export const visitor = { name: "Yuki Mori", email: "yuki.mori@example.net" };

/** Those who travel with a customer. */
const companions = ["Leila", "Anton", "Clara"] as const;

/** The body of a booking of so many seats, for a customer and the family. */
export function bookingOf(flightId: number, seats: number, customer = chosen(customers, 0)) {
  const { firstName, lastName, email } = customer;
  const passengers = Array.from({ length: seats }, (_, index) => ({
    firstName: index === 0 ? firstName : chosen(companions, index - 1),
    lastName,
    email,
    dateOfBirth: `${1962 + ((lastName.length * 7 + index * 11) % 40)}-04-12`,
    passportNumber: `X${1_000_000 + index}`,
  }));
  return { flightId, contactEmail: email, paymentMethod: "card", passengers };
}

/** An item of a list that is not empty. The items repeat. */
export function chosen<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new Error("The list is empty");
  return item;
}
