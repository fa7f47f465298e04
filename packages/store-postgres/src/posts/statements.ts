/** The statements of posted calls. */

/** The bytes of inputs that are taken at once; the first call of a world is taken whatever its size. */
const TAKEN_BYTES_MAX = 4 * 1024 * 1024;

/** Calls of one principal that are taken at once, and rows of a world that are looked at for that. */
const OF_A_PRINCIPAL = 16;
const PAGE_ROWS = 256;

/** Adds a call, unless it is there or too many wait. */
export const POST = `
  WITH room AS MATERIALIZED (
    SELECT count(*) < $9 AS is_room FROM (
      SELECT FROM reprise.posted_call WHERE directory = $1 AND world = $3 AND answered IS NULL LIMIT $9
    ) AS waiting
  ), made AS (
    INSERT INTO reprise.posted_call (directory, key, world, principal, request, actor, operation, input)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8 FROM room WHERE is_room ON CONFLICT (directory, key) DO NOTHING RETURNING id
  )
  SELECT is_room, EXISTS (SELECT FROM made) FROM room`;

export const FIND =
  'SELECT id, operation, sha256(input), answer FROM reprise.posted_call WHERE directory = $1 AND key = $2';

export const AWAIT = `
  UPDATE reprise.posted_call SET awaited = true WHERE id = $1 AND NOT awaited AND answered IS NULL`;

/**
 * One step of the index for each world with calls that wait, however many wait there, and no further than to the last world
 * that is asked for. Each LATERAL with a LIMIT is looked up world by world: a join by a hash would give them in any order, and
 * a page that ends in the middle would leave some out.
 */
export const WORLDS = `
  WITH RECURSIVE waiting AS (
    (SELECT world FROM reprise.posted_call WHERE directory = $1 AND answered IS NULL AND world > $2 ORDER BY world LIMIT 1)
    UNION ALL
    SELECT (
      SELECT p.world FROM reprise.posted_call p
      WHERE p.directory = $1 AND p.answered IS NULL AND p.world > w.world ORDER BY p.world LIMIT 1
    ) FROM waiting w WHERE w.world IS NOT NULL
  )
  SELECT w.world, calls.is_known, h.id IS NOT NULL FROM waiting w
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM (
        SELECT operation FROM reprise.posted_call p
        WHERE p.directory = $1 AND p.world = w.world AND p.answered IS NULL ORDER BY p.id
      ) AS own WHERE operation = ANY($5::text[])
    ) AS is_known
  ) AS calls
  LEFT JOIN LATERAL (
    SELECT h.id, h.address FROM reprise.directory_row r JOIN reprise.host h ON h.id = r.owner
    WHERE r.directory = $1 AND r.world = w.world AND r.open AND NOT h.closed AND h.expires > clock_timestamp() LIMIT 1
  ) AS h ON true
  WHERE w.world IS NOT NULL AND (h.id IS NULL OR h.address = $3) LIMIT $4`;

/**
 * Of each principal the first calls that were never begun, or the first one alone. A page is of principals that are not left out,
 * so that one with many calls that wait for something keeps no other one waiting.
 */
export const TAKE = `
  WITH page AS MATERIALIZED (
    SELECT id, principal, tries, length(input) AS size FROM reprise.posted_call
    WHERE directory = $1 AND world = $2 AND answered IS NULL AND NOT principal = ANY($3::text[])
    ORDER BY id LIMIT ${PAGE_ROWS} FOR UPDATE
  ), ranked AS (
    SELECT id, size, row_number() OVER own AS n, max(tries) OVER own AS begun, min(id) OVER (PARTITION BY principal) AS lead
    FROM page WINDOW own AS (PARTITION BY principal ORDER BY id ROWS UNBOUNDED PRECEDING)
  ), chosen AS (
    SELECT id, dense_rank() OVER (ORDER BY lead) AS place, sum(size) OVER (ORDER BY id) - size AS before FROM ranked
    WHERE n = 1 OR (n <= ${OF_A_PRINCIPAL} AND begun = 0)
  ), begun AS (
    UPDATE reprise.posted_call p SET tries = p.tries + 1 FROM chosen c
    WHERE p.id = c.id AND c.place <= $4 AND c.before < ${TAKEN_BYTES_MAX}
    RETURNING p.id, p.principal, p.request, p.actor, p.operation, p.input, p.tries
  )
  SELECT * FROM begun ORDER BY id`;

/** How old the word of a process is at most that says what it knows, in milliseconds: it says so each minute. */
const ANNOUNCED_MS = 150_000;

/** Says that a process lives that knows these operations. Rows are locked in their order. */
export const ANNOUNCE = `
  INSERT INTO reprise.posted_operation AS o (directory, operation, known)
  SELECT $1, g.operation, clock_timestamp() FROM unnest($2::text[]) AS g (operation) ORDER BY g.operation
  ON CONFLICT (directory, operation) DO UPDATE SET known = excluded.known
    WHERE o.known < excluded.known - interval '10 seconds'`;

/** Whether no process has said for so long that it knows the operation of a call; $N has milliseconds. */
function unknownFor(ms: string): string {
  return `NOT EXISTS (SELECT FROM reprise.posted_operation o WHERE o.directory = p.directory
    AND o.operation = p.operation AND o.known > clock_timestamp() - ${ms} * interval '1 ms')`;
}

/** Calls that have waited for so long, and whose operation nobody has known for as long. */
export const UNKNOWN = `
  SELECT p.id, p.world, p.request, p.operation, p.tries FROM reprise.posted_call p
  WHERE p.directory = $1 AND p.answered IS NULL AND p.made < clock_timestamp() - $2 * interval '1 ms'
    AND ${unknownFor('$2')} ORDER BY p.id LIMIT $3`;

/** What waits in each directory, and of it what no process knows now. */
export const WAITING = `
  SELECT p.directory, count(*), floor(extract(epoch FROM clock_timestamp() - min(p.made)) * 1000)::bigint,
    count(*) FILTER (WHERE ${unknownFor(String(ANNOUNCED_MS))})
  FROM reprise.posted_call p WHERE p.answered IS NULL GROUP BY p.directory`;

/** Rows are locked in the order of their numbers here and below, as by {@link TAKE}, so that no two statements wait for each other. */
export const GIVE_BACK = `
  WITH held AS MATERIALIZED (
    SELECT id FROM reprise.posted_call WHERE id = ANY($1::bigint[]) AND answered IS NULL AND tries > 0
    ORDER BY id FOR UPDATE
  )
  UPDATE reprise.posted_call p SET tries = p.tries - 1 FROM held WHERE p.id = held.id`;

export const ANSWER = `
  WITH held AS MATERIALIZED (
    SELECT p.id, g.answer FROM unnest($1::bigint[], $2::text[]) AS g (id, answer)
      JOIN reprise.posted_call p ON p.id = g.id AND p.answered IS NULL
    ORDER BY p.id FOR UPDATE OF p
  )
  UPDATE reprise.posted_call p SET answer = decode(held.answer, 'hex'), answered = clock_timestamp()
  FROM held WHERE p.id = held.id AND p.answered IS NULL RETURNING p.id, p.awaited`;

export const SWEEP = `
  DELETE FROM reprise.posted_call WHERE id IN (
    SELECT id FROM reprise.posted_call
    WHERE directory = $1 AND answered < clock_timestamp() - $2 * interval '1 ms'
    ORDER BY answered LIMIT $3 FOR UPDATE SKIP LOCKED
  ) RETURNING id`;
