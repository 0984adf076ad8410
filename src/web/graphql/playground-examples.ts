interface Example {
  readonly title: string;
  readonly query: string;
  readonly variables?: object;
}

/** The tabs of a first visit. The page replaces `flightId` by a flight of the server that can be booked. */
export const examples: readonly Example[] = [
  {
    title: "Search",
    query: `# Flights are public. Everything else needs
# a console session, or a token: paste it
# after "Bearer " under Headers below.
#   skyhook token --email you@example.com
query Search {
  flights(first: 5) {
    totalCount
    nodes {
      flightId
      flightNumber
      origin
      destination
      departureLocal
      price {
        amount
        currency
      }
      seatsAvailable
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
  },
  {
    title: "Book",
    query: `# Books a seat on the flight in the variables below.
mutation Book($input: CreateBookingInput!) {
  createBooking(input: $input) {
    bookingId
    reference
    status
    totalPrice
    currency
  }
}
`,
    variables: {
      input: {
        flightId: 1,
        contactEmail: "ada@example.com",
        paymentMethod: "card",
        passengers: [
          {
            firstName: "Ada",
            lastName: "Lovelace",
            email: "ada@example.com",
            dateOfBirth: "1990-04-12",
            passportNumber: "X1234567",
          },
        ],
      },
    },
  },
  {
    title: "Cancel",
    query: `# Set bookingId in the variables below to that of your booking.
mutation Cancel($bookingId: ID!) {
  cancelBooking(bookingId: $bookingId) {
    status
    cancelledAt
    refund {
      amount
      currency
      percent
    }
  }
}
`,
    variables: { bookingId: "bk_019377b07d4070008000000000000001" },
  },
  {
    title: "Page through",
    query: `# Set "after" below to the endCursor of the last page.
query Pages($after: String) {
  flights(first: 2, after: $after) {
    nodes {
      flightId
      flightNumber
      departureTime
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: { after: null },
  },
  {
    title: "Subscribe",
    query: `# Run it, then book a seat of this flight in another tab.
subscription Seats($flightId: Int!) {
  seatsChanged(flightId: $flightId) {
    flightId
    seatsAvailable
  }
}
`,
    variables: { flightId: 1 },
  },
];
