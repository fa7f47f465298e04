/**
 * How records are written: each kind has a number, and its fields have places in a list instead of names. The tables
 * here are the published ones (`docs/reference/records.md` is generated from them). A change of any raises
 * `KERNEL_SEMANTICS`; only a new optional field does not, since what was recorded before keeps its bytes.
 */
import type { DerivedRecord, IngressRecord } from '@reprise/contracts';

/**
 * How a field is written: `plain` as it is; a `digest` of 64 hex digits as 32 bytes; an `event` as `[name, value]`; a
 * `receipt` as a list of its own; a `principal` as it is, but `true` for the adapter of the record's own effect; `pins`
 * as a list of names and digests in turn; an effect's `id` in a pair as a digest.
 */
export type Form = 'plain' | 'digest' | 'digests' | 'event' | 'receipt' | 'principal' | 'pins' | 'settled';

/** The written form of a kind of record. */
export interface Layout {
  /** The number of the kind: the first item of the list. */
  readonly code: number;
  /** The fields that every record of the kind has, in the order of their places. */
  readonly fields: readonly Field[];
  /** The optional fields: those that are present follow as one map, by name; without any there is no map. */
  readonly optional: readonly Field[];
}

/**
 * A field and how it is written. An object, since each frame walks these: a loop that takes pairs apart by their places is
 * several times as much code to compile.
 */
interface Field {
  readonly name: string;
  readonly form: Form;
}

const as = (form: Form, ...names: readonly string[]): readonly Field[] => names.map((name) => ({ name, form }));

const plain = (...names: readonly string[]): readonly Field[] => as('plain', ...names);

const STAMPS: readonly Field[] = [...plain('seq', 'at'), ...as('principal', 'principal')];

/** The kinds of records that bring something in: the first of a frame. */
export const INGRESS_LAYOUTS: Readonly<Record<IngressRecord['kind'], Layout>> = {
  manifest: {
    code: 0,
    fields: [
      ...STAMPS,
      ...as('digest', 'world', 'seed'),
      ...plain('semantics'),
      ...as('pins', 'reducers', 'plans', 'effects'),
      ...plain('policy'),
    ],
    optional: plain('compatible', 'cancels', 'code'),
  },
  request: {
    code: 1,
    fields: [...STAMPS, ...plain('id', 'to'), ...as('event', 'event')],
    optional: plain('actor', 'traceparent'),
  },
  command: { code: 2, fields: [...STAMPS, ...plain('id'), ...as('event', 'command')], optional: [] },
  receipt: {
    code: 3,
    fields: [...STAMPS, ...as('digest', 'effect'), ...plain('attempt'), ...as('receipt', 'receipt')],
    optional: [...plain('unanswered', 'quarantined'), ...as('digest', 'recorded')],
  },
  timer: { code: 4, fields: [...STAMPS, ...plain('cell', 'plan', 'name', 'due')], optional: plain('quarantined') },
  attempt: { code: 5, fields: [...STAMPS, ...as('digest', 'effect'), ...plain('attempt')], optional: [] },
  deferred: {
    code: 6,
    fields: [...STAMPS, ...as('digest', 'effect'), ...plain('attempt', 'expires', 'to')],
    optional: [],
  },
  ask: {
    code: 7,
    fields: [...STAMPS, ...as('digest', 'effect'), ...plain('attempt', 'n', 'question', 'expires', 'to')],
    optional: [],
  },
  snapshot: { code: 8, fields: [...STAMPS, ...plain('root', 'leaves')], optional: [] },
  continue: { code: 9, fields: [...STAMPS], optional: plain('quarantined') },
  clock: { code: 10, fields: [...STAMPS, ...plain('wall')], optional: [] },
  erase: {
    code: 11,
    fields: [...STAMPS, ...plain('id', 'cell', 'subtree'), ...as('digests', 'digests')],
    optional: plain('reason'),
  },
  fork: {
    code: 12,
    fields: [
      ...STAMPS,
      ...as('digest', 'world'),
      ...plain('from', 'mode'),
      ...as('digests', 'origins'),
      ...as('settled', 'settled'),
      ...plain('rights', 'accounts', 'recorded'),
    ],
    optional: plain('root'),
  },
};

/** The kinds of records that follow from the first. */
export const DERIVED_LAYOUTS: Readonly<Record<DerivedRecord['kind'], Layout>> = {
  event: { code: 0, fields: [...plain('c', 'to'), ...as('event', 'event'), ...plain('from')], optional: [] },
  intent: { code: 1, fields: plain('c', 'plan', 'name', 'input'), optional: [] },
  effect: {
    code: 2,
    fields: [
      ...plain('c'),
      ...as('digest', 'effect'),
      ...plain('plan', 'emission', 'name', 'params', 'guarantee', 'rule', 'deadline'),
    ],
    optional: [...as('digest', 'grant'), ...plain('approval', 'reserved')],
  },
  denial: { code: 3, fields: plain('c', 'who', 'what', 'code', 'rule'), optional: as('digest', 'effect') },
  settled: {
    code: 4,
    fields: [...plain('c'), ...as('digest', 'effect'), ...plain('status', 'code', 'by')],
    optional: [],
  },
  late: { code: 5, fields: [...plain('c'), ...as('digest', 'effect'), ...plain('status', 'settled')], optional: [] },
  fact: { code: 6, fields: plain('c', 'from', 'name', 'value'), optional: [] },
  fault: { code: 7, fields: plain('c', 'target', 'code'), optional: [] },
  plan_ended: { code: 8, fields: plain('c', 'plan', 'status', 'code'), optional: [] },
  cell_command: { code: 9, fields: [...plain('c', 'from'), ...as('event', 'command')], optional: [] },
};

/** What the names of a cell's own state fields begin with in a state record. */
export const STATE_PREFIX = 'state.';

/** The fields of a receipt. */
export const RECEIPT_LAYOUT: Omit<Layout, 'code'> = {
  fields: plain('adapter', 'status', 'attempts'),
  optional: [
    ...plain('code', 'retryable', 'payload', 'usage', 'error_ref', 'by', 'actor', 'reason_ref'),
    ...plain('asked', 'response_model', 'first_chunk_ms'),
  ],
};
