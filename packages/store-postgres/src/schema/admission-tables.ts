/**
 * Version 8: what tells a database from a restored or promoted copy of itself, and what an operator has decided about it.
 *
 * - `cell`: one row. `system`, `database` and `timeline` are where the database was when it was admitted the last time;
 *   null for what the server does not say. `incarnation` is new with each admission. `behind`: a witness has seen heads that
 *   are not here. Epochs up to `epochs_before` belong to incarnations before.
 * - `admission`: the decisions, the first of which is the making of the row.
 * - `lost_world`: the worlds that lack acknowledged frames. They stay closed until `opened_in` names the admission in which an
 *   operator has let them go on.
 * - `witness_slot`: the lease of the process that overwrites a slot of the witness.
 *
 * The trigger is for what takes a world, also for processes of earlier releases that still run; appends change no epoch, so
 * it does not run for them. `here` asks each function of the server by itself: a role may not be allowed one of them.
 */
export const STEPS_ADMISSION: readonly string[] = [
  `CREATE TABLE cell (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), incarnation uuid NOT NULL, system text, database bigint, timeline bigint,
    behind boolean NOT NULL DEFAULT false, epochs_before bigint NOT NULL DEFAULT 0
  )`,
  `CREATE TABLE admission (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, incarnation uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), reason text, witness text, compared bigint NOT NULL, lost bigint NOT NULL
  )`,
  `CREATE TABLE lost_world (
    world bigint NOT NULL, admission bigint NOT NULL, had_seq bigint NOT NULL, had_head bytea NOT NULL,
    has_seq bigint NOT NULL, has_head bytea NOT NULL, opened_in bigint, PRIMARY KEY (world, admission)
  )`,
  'CREATE TABLE witness_slot (slot int PRIMARY KEY, host uuid NOT NULL)',
  `CREATE FUNCTION reprise.here(OUT system text, OUT database bigint, OUT timeline bigint)
    LANGUAGE plpgsql STABLE AS $$
    BEGIN
      SELECT d.oid::bigint INTO database FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database();
      BEGIN
        SELECT s.system_identifier::text INTO system FROM pg_catalog.pg_control_system() s;
      EXCEPTION WHEN OTHERS THEN system := NULL;
      END;
      BEGIN
        timeline := ('x' || substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
      EXCEPTION WHEN OTHERS THEN
        BEGIN
          SELECT c.timeline_id::bigint INTO timeline FROM pg_catalog.pg_control_checkpoint() c;
        EXCEPTION WHEN OTHERS THEN timeline := NULL;
        END;
      END;
    END $$`,
  `CREATE FUNCTION reprise.why_not_admitted() RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE WHEN c.system <> h.system THEN 'system' WHEN c.database <> h.database THEN 'database'
        WHEN c.timeline <> h.timeline THEN 'timeline' WHEN c.behind THEN 'heads' END
      FROM reprise.cell c, reprise.here() h
    $$`,
  `CREATE FUNCTION reprise.world_is_taken() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF reprise.why_not_admitted() IS NOT NULL THEN
        RAISE EXCEPTION 'this database was restored or promoted, and no operator has admitted it: reprise fleet admit'
          USING ERRCODE = 'RP001';
      END IF;
      IF EXISTS (SELECT FROM reprise.lost_world l WHERE l.world = NEW.id AND l.opened_in IS NULL) THEN
        RAISE EXCEPTION 'this world has lost acknowledged frames, and no operator has let it go on: reprise fleet admit --open'
          USING ERRCODE = 'RP002';
      END IF;
      IF NEW.epoch <= (SELECT c.epochs_before FROM reprise.cell c) THEN
        RAISE EXCEPTION 'this number of an opening was used before a restore: a newer release of Reprise knows which are free'
          USING ERRCODE = 'RP003';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER world_is_taken BEFORE UPDATE OF epoch ON reprise.world FOR EACH ROW
    WHEN (OLD.epoch IS DISTINCT FROM NEW.epoch) EXECUTE FUNCTION reprise.world_is_taken()`,
  `INSERT INTO reprise.cell (incarnation, system, database, timeline)
    SELECT gen_random_uuid(), h.system, h.database, h.timeline FROM reprise.here() h`,
  'INSERT INTO reprise.admission (incarnation, compared, lost) SELECT incarnation, 0, 0 FROM reprise.cell',
];
