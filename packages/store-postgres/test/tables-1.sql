CREATE SCHEMA reprise;
CREATE TABLE reprise.blob (
    world bigint NOT NULL,
    digest bytea NOT NULL,
    bytes bytea
);
CREATE TABLE reprise.directory (
    id bigint NOT NULL,
    name bytea NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    owner uuid
);
ALTER TABLE reprise.directory ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reprise.directory_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE reprise.directory_row (
    directory bigint NOT NULL,
    world bytea NOT NULL,
    wake bigint,
    open boolean NOT NULL
);
CREATE TABLE reprise.frame (
    world bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    head bytea NOT NULL,
    key bytea,
    bytes bytea NOT NULL
);
CREATE TABLE reprise.host (
    id uuid NOT NULL,
    process text NOT NULL,
    expires timestamp with time zone NOT NULL,
    closed boolean DEFAULT false NOT NULL,
    died boolean DEFAULT false NOT NULL
);
CREATE TABLE reprise.meta (
    one boolean DEFAULT true NOT NULL,
    version integer NOT NULL,
    CONSTRAINT meta_one_check CHECK (one)
);
CREATE TABLE reprise.part (
    world bigint NOT NULL,
    digest bytea NOT NULL,
    n integer NOT NULL,
    bytes bytea NOT NULL
);
CREATE TABLE reprise.tombstone (
    world bigint NOT NULL,
    digest bytea NOT NULL,
    seq bigint NOT NULL
);
CREATE TABLE reprise.view (
    id bigint NOT NULL,
    place bytea NOT NULL,
    name text NOT NULL,
    seq bigint NOT NULL,
    head text NOT NULL,
    digest text NOT NULL
);
CREATE TABLE reprise.view_entry (
    view bigint NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL
);
ALTER TABLE reprise.view ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reprise.view_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE reprise.world (
    id bigint NOT NULL,
    name bytea NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    owner uuid,
    seq bigint DEFAULT '-1'::integer NOT NULL,
    head bytea DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea NOT NULL,
    mark text,
    posted text,
    erased_through bigint DEFAULT '-1'::integer NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE reprise.world ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reprise.world_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO reprise.directory OVERRIDING SYSTEM VALUE VALUES
	(1, '\x686f737473', 1, 'e571bf80-f90a-4ada-a7d4-ea686ebe46b7'),
	(2, '\x6c656674', 1, NULL);
INSERT INTO reprise.directory_row VALUES
	(1, '\x636c6f736564', 5000, false),
	(1, '\x6f6c64', NULL, true),
	(1, '\x6e65766572', NULL, false),
	(2, '\x78', 7, false);
INSERT INTO reprise.frame VALUES
	(1, 0, 1796040646960, 'manifest', '\x0041f8957311e7091b87a3ccc5e686c8f941f874127fb2ea44f467b7eaa38961', NULL, '\xd90100848b00001b000001a22c5d6130686f70657261746f7258203bfefaf4b812b30b66a10d4fd2e3d361cd6caa907115fe24947b189ef5777f435820ed6a797b16944d9e099b9c1c823fb3837e02dba7c743e94072881b590669539f06826d6170702f436f756e746572403158203e90d504ecfb1e430ee3543c8400e02eedebdb4dcae638461c35f5e644303580808083a266656666656374612a686465636973696f6e65616c6c6f77a26473656e64612a686465636973696f6ed81907d81ca36377686f612a656572617365612a686465636973696f6ed819078080818265776f726c64d81ca464736565645820d41251e2afc04ba23fa54faff041547bccdf06cdef976d9768b09315a598cd6565776f726c6458200967c9c80d47f3b755293e81e3c13f84a6b412a456644f765af77305c05f2d9066706f6c6963795820cde9ccdcf1ca142b08ee3b08ac407b76d2f097c310656d98db502636963e9fa36973656d616e746963738106'),
	(1, 1, 1796040646991, 'request', '\xdda01c57474f140a858c24363875623f50e353054867361a202f3b197fbc2483', '\x45081e767c68df72adcde747507ed70079870725ab460525ea808db7811d982c', '\xd90100848701011b000001a22c5d614f686f70657261746f7278203031336138626365333362616430373738373337616562333362633562323665826d6170702f436f756e74657240316161826d6170702f436f756e7465644031a0808081856463656c6cd819026161a163696e638100a165636f756e748101'),
	(1, 2, 1796040646998, 'request', '\xcb1f00af4d8b6b93b2f43c718725c50fff706e8a8836187971c28f43ce5a71e2', '\xa4547a94745c7afb4da21ac923520e3ddbefb98a5e467f142386d3fe3bf67802', '\xd90100848701021b000001a22c5d6156686f70657261746f7278203933613031353435306534643534643630656434333130373735613061333833826d6170702f436f756e74657240316161826d6170702f436f756e7465644031a0808081856463656c6cd819026161a0a165636f756e748102'),
	(1, 3, 1796040647009, 'request', '\xfa5f8747ffe205ad98858e5ee28cc8631a09ec1d5f5c8e95f156cbd5bdd65ce3', '\x7f013752966b69d319f26143c4d9587d7beb521f95bc48dc61ed57d6530145f8', '\xd90100848701031b000001a22c5d6161686f70657261746f7278206636316466343066663735336334643265393637363861333438656339303833826d6170702f436f756e74657240316161826d6170702f436f756e7465644031a0808081856463656c6cd819026161a0a165636f756e748103');
INSERT INTO reprise.host VALUES
	('e571bf80-f90a-4ada-a7d4-ea686ebe46b7', 'c5c2e68d-a286-4662-bfa8-1677364edf02 pid:[4026531836] 18285 1386174', '2026-11-30 12:10:48.928342+00', false, false);
INSERT INTO reprise.meta VALUES
	(true, 1);
INSERT INTO reprise.world OVERRIDING SYSTEM VALUE VALUES
	(1, '\x6f6c64', 1, NULL, 3, '\xfa5f8747ffe205ad98858e5ee28cc8631a09ec1d5f5c8e95f156cbd5bdd65ce3', NULL, NULL, -1);
SELECT pg_catalog.setval('reprise.directory_id_seq', 2, true);
SELECT pg_catalog.setval('reprise.view_id_seq', 1, false);
SELECT pg_catalog.setval('reprise.world_id_seq', 1, true);
ALTER TABLE ONLY reprise.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (world, digest);
ALTER TABLE ONLY reprise.directory
    ADD CONSTRAINT directory_name_key UNIQUE (name);
ALTER TABLE ONLY reprise.directory
    ADD CONSTRAINT directory_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reprise.directory_row
    ADD CONSTRAINT directory_row_pkey PRIMARY KEY (directory, world);
ALTER TABLE ONLY reprise.frame
    ADD CONSTRAINT frame_pkey PRIMARY KEY (world, seq);
ALTER TABLE ONLY reprise.host
    ADD CONSTRAINT host_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reprise.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (one);
ALTER TABLE ONLY reprise.part
    ADD CONSTRAINT part_pkey PRIMARY KEY (world, digest, n);
ALTER TABLE ONLY reprise.tombstone
    ADD CONSTRAINT tombstone_pkey PRIMARY KEY (world, digest);
ALTER TABLE ONLY reprise.view_entry
    ADD CONSTRAINT view_entry_pkey PRIMARY KEY (view, key);
ALTER TABLE ONLY reprise.view
    ADD CONSTRAINT view_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reprise.view
    ADD CONSTRAINT view_place_name_key UNIQUE (place, name);
ALTER TABLE ONLY reprise.world
    ADD CONSTRAINT world_name_key UNIQUE (name);
ALTER TABLE ONLY reprise.world
    ADD CONSTRAINT world_pkey PRIMARY KEY (id);
CREATE INDEX directory_due ON reprise.directory_row USING btree (directory, wake, world) WHERE ((NOT open) AND (wake IS NOT NULL));
CREATE INDEX frame_key ON reprise.frame USING btree (world, key, seq) WHERE (key IS NOT NULL);
CREATE INDEX frame_kind ON reprise.frame USING btree (world, kind, seq);
CREATE INDEX world_owner ON reprise.world USING btree (owner) WHERE (owner IS NOT NULL);
