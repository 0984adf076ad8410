// The peer for bookings: a good Node implementation of the same guarantee. Checks the access token and the
// body, makes the booking in one durable transaction per request, then responds. It uses Skyhook's schema and
// stores the same data.

import { createCipheriv, createHash, randomBytes, randomInt, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../peers/package.json", import.meta.url));
const Database = require("better-sqlite3");
const fastify = require("fastify");
const jwt = require("@fastify/jwt");

const { PORT, DATABASE, JWT_SECRET, JWT_ISSUER, JWT_AUDIENCE } = process.env;
const sealKey = randomBytes(32);
const sealKeyId = createHash("sha256").update(sealKey).digest().subarray(0, 4);

const database = new Database(DATABASE);
database.pragma("journal_mode = wal");
database.pragma("synchronous = full");
database.pragma("mmap_size = 1073741824");
const schema = new URL("../../src/schema/sqlite.sql", import.meta.url);
const isNew = database.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
if (isNew) database.exec(readFileSync(schema, "utf8"));

const findKey = database.prepare("select * from idempotency where scope = ? and key = ?");
const findFlight = database.prepare("select * from flights where id = ?");
const takeSeats = database.prepare(`
  update flights set seats_available = seats_available - @seats
  where id = @id and seats_available >= @seats and departure_time > @closesAfter`);
const insertBooking = database.prepare(`
  insert into bookings (id, reference, user_id, flight_id, status, seats, total_minor, currency,
    contact_email, payment_method, created_at, updated_at)
  values (@id, @reference, @userId, @flightId, 'confirmed', @seats, @totalMinor, @currency,
    @contactEmail, @paymentMethod, @now, @now)`);
const insertPassenger = database.prepare(`
  insert into passengers (booking_id, position, first_name, last_name, email, sealed)
  values (@bookingId, @position, @firstName, @lastName, @email, @sealed)`);
const insertEvent = database.prepare(`
  insert into events (id, seq, provider, type, status, idempotency_key, occurred_at, created_at, subject, title,
    actor, data, body_bytes, duplicates)
  values (@id, (select coalesce(max(seq), 0) + 1 from events), 'bookings', 'booking.confirmed', 'accepted', @idempotencyKey, @now, @now, @subject, @title,
    @actor, @data, 0, 0)`);
const insertNotification = database.prepare(`
  insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count,
    delivered_at)
  values (@id, @eventId, @now, @title, @text, 'success', 'delivered', 0, @now)`);
const insertKey = database.prepare(`
  insert into idempotency (scope, key, request_hash, resource_id, created_at, expires_at)
  values (@scope, @key, @requestHash, @resourceId, @now, @now + 86400000)`);

/** Returns the booking, or an error code. */
const book = database.transaction((userId, request, keyed, now) => {
  const earlier = findKey.get(keyed.scope, keyed.key);
  if (earlier !== undefined) return "idempotency-key-reused";
  const flight = findFlight.get(request.flightId);
  const seats = request.passengers.length;
  if (flight === undefined) return "flight-not-found";
  if (takeSeats.run({ id: flight.id, seats, closesAfter: now + 3_600_000 }).changes === 0) {
    return "no-seats";
  }
  const id = orderedId("bk", now);
  const booking = {
    id,
    reference: makeReference(),
    userId,
    flightId: flight.id,
    seats,
    totalMinor: flight.price_minor * seats,
    currency: flight.currency,
    contactEmail: request.contactEmail,
    paymentMethod: request.paymentMethod,
    now,
  };
  insertBooking.run(booking);
  for (const [index, passenger] of request.passengers.entries()) {
    const { firstName, lastName, email, dateOfBirth, passportNumber } = passenger;
    const position = index + 1;
    const sealed = seal(`${id}/${position}`, { dateOfBirth, passportNumber });
    insertPassenger.run({ bookingId: id, position, firstName, lastName, email, sealed });
  }
  const total = (booking.totalMinor / 100).toFixed(2);
  const eventId = orderedId("evt", now);
  const day = new Date(flight.departure_time).toISOString().slice(0, 10);
  const route = `${flight.flight_number} ${flight.origin} → ${flight.destination}`;
  const title = `Booking ${booking.reference} confirmed: ${seats} seat on ${route}, ${day}`;
  insertEvent.run({
    id: eventId,
    idempotencyKey: `bookings:${id}:confirmed`,
    now,
    subject: `booking/${id}`,
    title,
    actor: userId,
    data: JSON.stringify({
      bookingId: id,
      reference: booking.reference,
      seats,
      flightId: flight.id,
      flightNumber: flight.flight_number,
      total: Number(total),
      currency: booking.currency,
    }),
  });
  const text = `${total} ${booking.currency}`;
  insertNotification.run({ id: orderedId("ntf", now), eventId, now, title, text });
  insertKey.run({ ...keyed, resourceId: id, now });
  return booking;
});

/** Ids ordered by time, like Skyhook's. Random ids would slow down the primary key. */
function orderedId(prefix, now) {
  const time = now.toString(16).padStart(12, "0");
  return `${prefix}_${time}${randomUUID().replaceAll("-", "").slice(12)}`;
}

function makeReference() {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ";
  return Array.from({ length: 6 }, () => letters[randomInt(letters.length)]).join("");
}

function seal(place, data) {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", sealKey, nonce);
  cipher.setAAD(Buffer.from(place));
  const text = Buffer.concat([cipher.update(JSON.stringify(data)), cipher.final()]);
  return Buffer.concat([sealKeyId, nonce, cipher.getAuthTag(), text]);
}

const string = { type: "string", minLength: 1, maxLength: 120 };
const passenger = {
  firstName: string,
  lastName: string,
  email: { type: "string", format: "email" },
  dateOfBirth: { type: "string", format: "date" },
  passportNumber: { type: "string", pattern: "^[A-Za-z0-9]{6,9}$" },
};
const body = {
  flightId: { type: "integer", minimum: 1 },
  passengers: {
    type: "array",
    minItems: 1,
    maxItems: 9,
    items: { type: "object", required: Object.keys(passenger), properties: passenger },
  },
  contactEmail: { type: "string", format: "email" },
  paymentMethod: { enum: ["card"] },
};
const answer = {
  bookingId: { type: "string" },
  status: { type: "string" },
  totalPrice: { type: "number" },
  currency: { type: "string" },
  confirmationSentTo: { type: "string" },
  createdAt: { type: "string" },
  reference: { type: "string" },
};

const app = fastify({ logger: false });
app.register(jwt, {
  secret: JWT_SECRET,
  verify: {
    algorithms: ["HS256"],
    allowedIss: JWT_ISSUER,
    allowedAud: JWT_AUDIENCE,
    requiredClaims: ["exp", "iat", "jti", "sub"],
    cache: 5_000,
  },
});
app.post(
  "/v1/api/bookings",
  {
    onRequest: (request) => request.jwtVerify(),
    schema: {
      body: { type: "object", required: Object.keys(body), properties: body },
      response: { 201: { type: "object", properties: answer } },
    },
  },
  (request, reply) => {
    const userId = request.user.sub;
    const requestHash = createHash("sha256").update(JSON.stringify(request.body)).digest();
    const keyed = {
      scope: `booking:${userId}`,
      key: request.headers["idempotency-key"],
      requestHash,
    };
    const now = Date.now();
    const booking = book(userId, request.body, keyed, now);
    if (typeof booking === "string") return reply.code(409).send({ code: booking });
    return reply
      .code(201)
      .header("location", `/v1/api/bookings/${booking.id}`)
      .send({
        bookingId: booking.id,
        status: "confirmed",
        totalPrice: booking.totalMinor / 100,
        currency: booking.currency,
        confirmationSentTo: booking.contactEmail,
        createdAt: new Date(now).toISOString(),
        reference: booking.reference,
      });
  },
);

await app.listen({ host: "127.0.0.1", port: Number(PORT) });

process.on("SIGTERM", () => {
  void app.close().then(() => {
    database.close();
    process.exit(0);
  });
});
