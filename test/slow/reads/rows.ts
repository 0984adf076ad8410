/** The rows are a second apart, up to this time. */
export const untilMs = Date.UTC(2026, 10, 21, 9, 0, 0);

/** SQL that differs between the databases: the numbers from 1, and a number as so many hexadecimal digits. */
export interface Sql {
  readonly numbers: (rows: number) => string;
  readonly hex: (number: string, digits: number) => string;
  /** The text in hexadecimal digits, and the words of the search index. */
  readonly hexOf: (text: string) => string;
  readonly words: (text: string) => string;
  readonly bytes: (count: number) => string;
}

export const onSqlite: Sql = {
  numbers: (rows) =>
    `(with recursive n(n) as (select 1 union all select n + 1 from n where n < ${rows}) select n from n)`,
  hex: (number, digits) => `printf('%0${digits}x', ${number})`,
  hexOf: (text) => `hex(${text})`,
  words: (text) => text,
  bytes: (count) => `zeroblob(${count})`,
};

export const onPostgres: Sql = {
  numbers: (rows) => `(select n::bigint from generate_series(1, ${rows}) as n) as numbers`,
  hex: (number, digits) => `lpad(to_hex((${number})::bigint), ${digits}, '0')`,
  hexOf: (text) => `encode(convert_to(${text}, 'UTF8'), 'hex')`,
  words: (text) =>
    `(select string_agg(format('%L:%s', word, place), ' ')::tsvector
      from regexp_split_to_table(lower(${text}), '[^a-z0-9=]+') with ordinality as words (word, place) where word <> '')`,
  bytes: (count) => `decode(repeat('00', ${count}), 'hex')`,
};

const destination = (number: number) => `dst_${String(number).padStart(32, "0")}`;
/** Destinations, named `name-1` to `name-1000`, by how much was sent to them: the first has ten deliveries. */
export const sentTo = {
  few: destination(1),
  manyOfUser: destination(2),
  many: destination(3),
  none: destination(4),
};
export const replay = `rpl_${"1".padStart(32, "0")}`;

/** An insert: the table, and an expression of `n` for each column. */
type Insert = readonly [table: string, columns: Record<string, string>, from: string];

/**
 * What fills an empty database: a million events, and what belongs to them. Of each filter, some value has many rows, one
 * has the ten oldest, and one has none: a list of the oldest walks all the others unless an index has them.
 */
export function inserts(sql: Sql, rows: number): readonly string[] {
  const atMs = `(${untilMs - rows * 1_000} + n * 1000)`;
  const id = (prefix: string) => `'${prefix}_' || ${sql.hex(atMs, 12)} || ${sql.hex("n", 20)}`;
  const position = `${atMs} * 1024`;
  const few = (rare: string, others: string) => `case when n <= 10 then ${rare} else ${others} end`;
  const many = sql.numbers(rows);
  const some = sql.numbers(rows / 10);
  const type = few(
    "'rare.one'",
    "case when n % 10 < 8 then 'push.done' else 'kind_' || n % 20 end",
  );
  const provider = few(
    "'payment_processor'",
    "case n % 2 when 0 then 'code_host' else 'task_tracker' end",
  );
  const subject = few("'rare/' || n", "'common/' || n % 2");
  const status = few("'unreadable'", "case n % 3 when 0 then 'ignored' else 'accepted' end");
  const sent = few(
    "'retrying'",
    "case when n % 12 in (1, 2, 3, 5) then 'dead' else 'delivered' end",
  );
  const dueAt = few(String(untilMs * 2), "null");
  const notified = `${many} where n % 4 <> 0`.replace(/\) where/, ") where");
  const delivery = (id: string, owner: string) => ({
    event: position,
    notification: position,
    destination: String(Number(id.slice(4))),
    owner_id: owner,
    status: sent,
    attempt_count: "1",
    due_at: dueAt,
    last_error: few("'timeout'", "null"),
    started_at: `case ${sent} when 'delivered' then ${atMs} end`,
    duration_ms: "20",
    response_status: "200",
  });
  /** The words of these severities, for the events that have a notification of one. */
  const severities = (which: string, ...names: readonly string[]) =>
    `case when tail % 4 <> 0 and (${which}) then ${names.map((name) => `' =v' || ${sql.hexOf(`'${name}'`)}`).join(" || ")} else '' end`;
  const ofSeverities = [
    severities("true", "info"),
    severities("tail % 2 = 0 or tail <= 10", "success", "warning"),
    severities("tail <= 10", "error"),
    `case when tail % 4 = 0 then ' =v' || ${sql.hexOf("'none'")} else '' end`,
  ].join(" || ");
  const text =
    "title || ' octocat ' || subject || ' Deploy failure main' || ' =p' || " +
    `${sql.hexOf("provider")} || ' =t' || ${sql.hexOf("type")} || ' =a' || ${sql.hexOf("status")} || ' =s' || ${sql.hexOf("subject")} || ${ofSeverities}`;
  const list: readonly Insert[] = [
    [
      "events",
      {
        position,
        tail: "n",
        provider,
        type,
        status,
        idempotency_key: "'key:' || n",
        occurred_at: atMs,
        subject,
        title: few("'Oldest first deploy failed on main'", "'Deploy failed on main number ' || n"),
        actor: "'octocat'",
        data: `'{"workflow":"Deploy","conclusion":"failure","branch":"main"}'`,
        headers: `'{"host":"localhost"}'`,
        address: "'127.0.0.1'",
        signed_with: "'current'",
        body_bytes: "1000",
        duplicates: "0",
        body: sql.bytes(1_000),
      },
      many,
    ],
    [
      "notifications",
      {
        position,
        event: position,
        title: "'Deploy failed on main'",
        text: "''",
        severity: few("'error'", "case n % 2 when 0 then 'warning' else 'info' end"),
      },
      notified,
    ],
    ["deliveries", delivery(sentTo.many, "null"), notified],
    ["deliveries", delivery(sentTo.manyOfUser, "'test-user'"), notified],
    ["deliveries", delivery(sentTo.few, "null"), `${sql.numbers(10)} where n % 4 <> 0`],
    [
      "destinations",
      {
        number: "n",
        id: `'dst_' || ${sql.hex("n", 32)}`,
        name: "'name-' || n",
        owner_id: few("case n when 2 then 'test-user' end", "'user-' || n % 10"),
        format: "'json'",
        transport: "'http'",
        url: "'https://example.com'",
        max_concurrent: "8",
        alerts: sql === onSqlite ? "0" : "false",
        state: "'disabled'",
        created_at: atMs,
        updated_at: atMs,
        failures: "0",
        sealed: sql.bytes(1),
      },
      sql.numbers(1_000),
    ],
    [
      "audit",
      {
        id: id("aud"),
        created_at: atMs,
        actor: few("'rare'", "'ada'"),
        action: few(
          "'provider.added'",
          "case n % 2 when 0 then 'session.opened' else 'session.closed' end",
        ),
        subject: few("'rare'", "'common'"),
      },
      many,
    ],
    [
      "rejections",
      {
        id: id("rej"),
        provider: "'provider_' || n % 20",
        created_at: atMs,
        reason: few("'too-many-items'", "'wrong-signature'"),
        address: "'192.0.2.1'",
        request_id: "'one'",
        headers: "'{}'",
        signatures: "'{}'",
        body_bytes: "1000",
        body: sql.bytes(1_000),
      },
      sql.numbers(4_000),
    ],
    [
      "users",
      {
        id: `'019377b0-7d40-7000-8000-' || ${sql.hex("n", 12)}`,
        name: "'User'",
        email: "'user-' || n || '@example.com'",
        created_at: atMs,
      },
      some,
    ],
    [
      "sessions",
      {
        id: id("ses"),
        hash: "'hash' || n",
        kind: "'console'",
        allowed: "'[]'",
        actor: "'actor-' || n % 100",
        roles: "'[]'",
        address: "'192.0.2.1'",
        name: "'test'",
        created_at: atMs,
        expires_at: String(untilMs * 2),
      },
      some,
    ],
    [
      "replays",
      {
        id: id("rpl"),
        created_at: atMs,
        actor: "'ada'",
        status: "'finished'",
        filters: `'{"to":"2026-11-21T09:00:00.000Z"}'`,
        rate_per_second: "1",
        total: "1",
        updated_at: atMs,
        resent: "0",
        notified: "0",
        silent: "0",
        deleted: "0",
        failed: "0",
        changed: "0",
      },
      some,
    ],
    [
      "replay_failures",
      { replay_id: `'${replay}'`, id: id("evt"), created_at: atMs, error: "'gone'" },
      some,
    ],
    [
      "flights",
      {
        id: "n",
        flight_number: "'SK' || n",
        airline: "'Skyhook Air'",
        origin: "'LHR'",
        destination: "'JFK'",
        departure_time: `${untilMs + 86_400_000} + n * 60000`,
        arrival_time: `${untilMs + 2 * 86_400_000}`,
        cabin_class: "'economy'",
        seats: "300",
        seats_available: "300",
        price_minor: "49950",
        currency: "'GBP'",
        created_at: atMs,
      },
      some,
    ],
    [
      "bookings",
      {
        id: id("bk"),
        reference: "'R' || n",
        user_id: few("'rare'", "'test-user'"),
        flight_id: few("2", "1"),
        status: "'confirmed'",
        seats: "1",
        total_minor: "49950",
        currency: "'GBP'",
        contact_email: few("'rare@example.com'", "'many@example.com'"),
        payment_method: "'card'",
        created_at: atMs,
        updated_at: atMs,
      },
      some,
    ],
    [
      "passengers",
      {
        booking_id: id("bk"),
        position: "1",
        first_name: "'Ada'",
        last_name: few("'Rare'", "'Smith'"),
        email: "'a@example.com'",
        sealed: sql.bytes(1),
      },
      some,
    ],
  ];
  const replayed = `insert into replays (id, created_at, actor, status, filters, rate_per_second, total, updated_at, resent, notified, silent, deleted, failed, changed)
    values ('${replay}', ${untilMs}, 'ada', 'finished', '{"to":"2026-11-21T09:00:00.000Z"}', 1, 1, ${untilMs}, 0, 0, 0, 0, 0, 0)`;
  return [
    ...list.map(
      ([table, columns, from]) =>
        `insert into ${table} (${Object.keys(columns).join()}) select ${Object.values(columns).join()} from ${from}`,
    ),
    replayed,
    `insert into event_words (rowid, words) select position, ${sql.words(text)} from events order by position`,
  ];
}
