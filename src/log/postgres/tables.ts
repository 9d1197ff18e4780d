/**
 * The tables of a log in a schema of its own, as SQL.
 *
 * - `head` has one row, and its lock is the fence: an append updates it where head and mark are the
 *   expected ones, and the second of two finds none. It is updated in place (HOT), hence the room
 *   on its page.
 * - A row of `log` is an append, a row of `journal` what an append wrote to one stream: entries
 *   joined by newlines. Bodies are bytea, because a text cannot hold a zero character.
 * - `garbage` names blocks of streams that were trimmed or removed and are to be deleted, a few
 *   thousand rows at a time, by whichever member gets to it.
 * - A chunk of a snapshot holds many pieces, with their sizes. They are not compressed: that would
 *   take longer than to write them.
 */
export const SCHEMA_VERSION = 1;

/** Deleted rows leave holes: cleared early, so that the tables stay small. */
const OFTEN = "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000";

/** `schema` is quoted. */
export function tablesIn(schema: string): string {
  return `
    CREATE TABLE ${schema}.head (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      schema_version integer NOT NULL,
      written_by text NOT NULL,
      log_id text NOT NULL,
      head bigint NOT NULL DEFAULT 0,
      mark bigint NOT NULL DEFAULT 0,
      oldest bigint NOT NULL DEFAULT 1,
      -- Of the appends that wrote the head, and the entry before the oldest.
      last_id text NOT NULL DEFAULT '',
      base_id text NOT NULL DEFAULT '',
      -- Of the newest append, with entries or without, and of the head before it.
      append_id text NOT NULL DEFAULT '',
      previous_id text NOT NULL DEFAULT ''
    ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
    CREATE TABLE ${schema}.log (
      last bigint PRIMARY KEY,
      first bigint NOT NULL,
      mark bigint NOT NULL,
      id text NOT NULL,
      previous text NOT NULL,
      checksum bigint NOT NULL,
      body bytea NOT NULL
    ) WITH (${OFTEN});
    CREATE TABLE ${schema}.stream (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      head bigint NOT NULL,
      trimmed bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 60, ${OFTEN});
    CREATE TABLE ${schema}.journal (
      stream bigint NOT NULL,
      last bigint NOT NULL,
      first bigint NOT NULL,
      checksum bigint NOT NULL,
      body bytea NOT NULL,
      PRIMARY KEY (stream, last)
    ) WITH (${OFTEN});
    CREATE TABLE ${schema}.garbage (
      stream bigint PRIMARY KEY,
      through bigint NOT NULL
    ) WITH (${OFTEN});
    CREATE TABLE ${schema}.snapshot (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      sequence bigint NOT NULL,
      append_id text NOT NULL DEFAULT '',
      chunks integer NOT NULL DEFAULT 0,
      state text NOT NULL DEFAULT 'begun' CHECK (state IN ('begun', 'whole', 'dropped')),
      begun_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE ${schema}.chunk (
      snapshot bigint NOT NULL,
      n integer NOT NULL,
      sizes integer[] NOT NULL,
      checksum bigint NOT NULL,
      body bytea NOT NULL,
      PRIMARY KEY (snapshot, n)
    ) WITH (${OFTEN});
    ALTER TABLE ${schema}.chunk ALTER COLUMN body SET STORAGE EXTERNAL;
    ${appendStreams(schema)}
    ${append(schema)}
    ${truncate(schema)}
    ${finishSnapshot(schema)}`;
}

/** SQL for the id of the append that wrote an entry, "" before the first; needs no index. */
function writerOf(schema: string, sequence: string): string {
  return `CASE WHEN ${sequence} = now.oldest - 1 THEN now.base_id ELSE
    (SELECT id FROM ${schema}.log WHERE last >= ${sequence} ORDER BY last LIMIT 1) END`;
}

/**
 * To several streams at once; gives their new heads in the order of the call. Rows are locked in
 * the order of their names, so that two appends never wait for each other.
 */
function appendStreams(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.append_streams(
      names text[], counts integer[], expected bigint[], sizes integer[], checksums bigint[],
      bodies bytea
    ) RETURNS bigint[] LANGUAGE plpgsql AS $$
    DECLARE
      heads bigint[];
      moved text;
    BEGIN
      WITH part AS (
        SELECT *, 1 + sum(size) OVER (ORDER BY n) - size AS start
        FROM unnest(names, counts, expected, sizes, checksums)
          WITH ORDINALITY AS each(name, entries, expected_head, size, checksum, n)
      ), streams AS (
        INSERT INTO ${schema}.stream AS known (name, head)
        SELECT name, entries FROM part ORDER BY name COLLATE "C"
        ON CONFLICT (name) DO UPDATE SET head = known.head + excluded.head
        RETURNING known.id, known.name, known.head
      ), blocks AS (
        INSERT INTO ${schema}.journal (stream, last, first, checksum, body)
        SELECT id, head, head - entries + 1, checksum,
          substring(bodies FROM start::integer FOR size)
        FROM part JOIN streams USING (name)
      )
      SELECT array_agg(head ORDER BY n),
        min(format('the head of stream %s is %s, not %s', name, head - entries, expected_head))
          FILTER (WHERE expected_head <> head - entries)
      INTO heads, moved
      FROM part JOIN streams USING (name);
      IF moved IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'RC001', MESSAGE = moved;
      END IF;
      RETURN heads;
    END $$;`;
}

/**
 * An append of the log, in one round trip. An append that was written already is looked for only
 * where the position has moved. Then the row is locked, which is a write: only a commit that writes
 * waits for the standbys, and before they have the append no caller may be told of it.
 */
function append(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.append(
      own_log text, at_head bigint, at_mark bigint, own_id text, entries integer, checksum bigint,
      body bytea, names text[], counts integer[], expected bigint[], sizes integer[],
      checksums bigint[], bodies bytea, channel text,
      OUT outcome text, OUT new_head bigint, OUT new_mark bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      now ${schema}.head;
    BEGIN
      UPDATE ${schema}.head AS it SET
        head = it.head + entries,
        mark = it.mark + 1,
        previous_id = it.last_id,
        last_id = CASE WHEN entries > 0 THEN own_id ELSE it.last_id END,
        append_id = own_id
      WHERE it.head = at_head AND it.mark = at_mark AND it.log_id = own_log
      RETURNING it.* INTO now;
      IF now.one THEN
        outcome := 'written';
        new_head := now.head;
        new_mark := now.mark;
        IF entries > 0 THEN
          INSERT INTO ${schema}.log (last, first, mark, id, previous, checksum, body)
          VALUES (now.head, at_head + 1, now.mark, own_id, now.previous_id, checksum, body);
        END IF;
        IF cardinality(names) > 0 THEN
          PERFORM ${schema}.append_streams(names, counts, expected, sizes, checksums, bodies);
        END IF;
        PERFORM pg_notify(channel, now.mark::text);
        RETURN;
      END IF;
      SELECT * INTO now FROM ${schema}.head FOR UPDATE;
      outcome := CASE WHEN now.log_id IS DISTINCT FROM own_log THEN 'other' ELSE 'fenced' END;
      new_head := now.head;
      new_mark := now.mark;
      IF outcome = 'fenced' AND entries > 0 THEN
        SELECT 'written', it.last, it.mark INTO outcome, new_head, new_mark
        FROM (SELECT * FROM ${schema}.log WHERE last > at_head ORDER BY last LIMIT 1) AS it
        WHERE it.id = own_id;
        IF outcome IS NULL THEN
          outcome := 'fenced';
          new_head := now.head;
          new_mark := now.mark;
        END IF;
      ELSIF outcome = 'fenced' AND now.append_id = own_id THEN
        outcome := 'written';
      END IF;
    END $$;`;
}

/** Refuses with what it found, else gives ''. */
function truncate(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.truncate(through bigint) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      now ${schema}.head;
    BEGIN
      SELECT * INTO STRICT now FROM ${schema}.head FOR UPDATE;
      IF through < now.oldest THEN
        RETURN '';
      END IF;
      PERFORM FROM ${schema}.snapshot WHERE state = 'whole' AND sequence >= through;
      IF NOT FOUND THEN
        RETURN 'no snapshot';
      END IF;
      UPDATE ${schema}.head SET oldest = through + 1, base_id = ${writerOf(schema, "through")};
      UPDATE ${schema}.snapshot SET state = 'dropped' WHERE sequence < through AND state = 'whole';
      RETURN '';
    END $$;`;
}

/** Makes a snapshot count, in the place of another at its sequence; '' or why it cannot. */
function finishSnapshot(schema: string): string {
  return `
    CREATE FUNCTION ${schema}.finish_snapshot(
      snapshot_id bigint, all_chunks integer, OUT refusal text, OUT bound bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      now ${schema}.head;
      own ${schema}.snapshot;
    BEGIN
      SELECT * INTO STRICT now FROM ${schema}.head;
      SELECT * INTO STRICT own FROM ${schema}.snapshot WHERE id = snapshot_id;
      IF own.sequence > now.head THEN
        refusal := 'above';
        bound := now.head;
      ELSIF own.sequence < now.oldest - 1 THEN
        refusal := 'below';
        bound := now.oldest;
      ELSE
        refusal := '';
        UPDATE ${schema}.snapshot SET state = 'dropped'
        WHERE sequence = own.sequence AND state = 'whole';
        UPDATE ${schema}.snapshot SET state = 'whole', chunks = all_chunks,
          append_id = coalesce(${writerOf(schema, "own.sequence")}, '')
        WHERE id = snapshot_id;
      END IF;
    END $$;`;
}
