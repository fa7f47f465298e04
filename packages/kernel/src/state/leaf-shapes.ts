/**
 * The shapes of the leaves of a snapshot. Leaves that this process wrote are trusted; those of a snapshot were read
 * from a file, and a fold over a malformed one would break an invariant instead of naming the damage.
 */
import {
  account,
  actor,
  address,
  amounts,
  capability,
  eventEnvelope,
  FAULT_CODES,
  GUARANTEES,
  planAddress,
  policyRule,
  principal,
  RECEIPT_STATUSES,
  RepriseError,
  receipt,
  ref,
  reserved,
  type Value,
  value,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { decode, FRAME_DEPTH_MAX } from '../pure/codec/index.js';
import type { LeafKey, LeafKind } from '../pure/engine/index.js';
import { check, compileSchema, type SchemaNode } from '../pure/schema/index.js';

const count = z.int().min(0);
const text = z.string();
const place = z.tuple([count, count]);
const optionalAddress = z.nullable(address);
const booked = { account: text, booked: amounts };

const decidedBy = { by: principal, actor: z.exactOptional(actor) };

const question = z.strictObject({
  n: count,
  question: value(),
  at: count,
  expires: z.nullable(count),
  to: z.nullable(text),
  answer: z.exactOptional(
    z.union([z.strictObject({ ...decidedBy, value: value() }), z.strictObject({ expired: z.literal(true) })]),
  ),
});

const resumed = z.union([
  z.strictObject({ receipts: z.array(z.tuple([count, receipt])) }),
  z.strictObject({ deadline: z.literal(true) }),
  z.strictObject({ peeked: value() }),
]);

const wait = z.union([
  z.strictObject({ for: z.enum(['one', 'any', 'all']), emissions: z.array(count), until: z.nullable(count) }),
  z.strictObject({ for: z.literal('peek'), address }),
]);

const delivery = z.union([
  z.strictObject({
    kind: z.literal('event'),
    to: address,
    event: eventEnvelope,
    from: z.nullable(z.union([address, planAddress])),
    reply: z.boolean(),
    quiet: z.exactOptional(z.literal(true)),
    tag: z.exactOptional(text),
    failure: z.exactOptional(text),
    notice: z.boolean(),
    making: z.exactOptional(z.literal(true)),
    aftermath: z.exactOptional(z.literal(true)),
  }),
  z.strictObject({ kind: z.literal('plan'), plan: planAddress }),
  z.strictObject({ kind: z.literal('sweep'), cell: address, table: text, inc: count, nodes: z.array(count) }),
]);

const backlog = z.strictObject({ first: count, end: count, count });

/** The shape of each kind of leaf. */
const SHAPES: Readonly<Record<LeafKind, z.AnySchema>> = {
  account,
  asked: z.strictObject({ to: address, from: address, event: text, tag: text }),
  cell: z.strictObject({
    inc: count,
    live: z.boolean(),
    n: count,
    ord: count,
    failed: z.nullable(text),
    parent: optionalAddress,
    pinc: z.exactOptional(count),
    plans: z.array(count),
    timers: z.record(text, count),
    logs: z.array(text),
    tables: z.exactOptional(z.record(text, z.strictObject({ size: count, root: count, next: count }))),
    asks: z.exactOptional(count),
    v: z.exactOptional(text),
    state: z.record(text, value()),
  }),
  effect: z.strictObject({
    plan: planAddress,
    inc: z.exactOptional(count),
    emission: count,
    name: text,
    params: value(),
    guarantee: z.enum(GUARANTEES),
    deadline: z.nullable(count),
    queued: place,
    attempt: count,
    reserved: z.exactOptional(reserved),
    approval: z.exactOptional(z.strictObject({ to: text, timeoutMs: z.nullable(count) })),
    deferred: z.exactOptional(z.strictObject({ expires: z.nullable(count), to: z.nullable(text) })),
    approved: z.exactOptional(z.strictObject({ ...decidedBy, to: z.nullable(text) })),
    settler: z.exactOptional(address),
    asks: z.exactOptional(z.array(question)),
    cancelled: z.exactOptional(z.strictObject({ until: count })),
    late: z.exactOptional(
      z.strictObject({
        status: z.enum(RECEIPT_STATUSES),
        account: z.exactOptional(text),
        booked: z.exactOptional(amounts),
      }),
    ),
    wake: z.exactOptional(count),
    origins: z.exactOptional(z.array(text)),
  }),
  failed: z.strictObject({ code: z.enum(FAULT_CODES), seq: count, at: count, event: text, waiting: count }),
  log: z.strictObject({
    count,
    levels: z.array(z.array(ref())),
    tail: z.array(value()),
    head: z.exactOptional(z.strictObject({ ref: ref(), items: count })),
  }),
  pending: z.union([
    z.strictObject({
      began: count,
      done: count,
      bytes: count,
      aftermath: z.exactOptional(z.literal(true)),
      cascade: backlog,
      roots: backlog,
      ending: z.exactOptional(place),
    }),
    z.strictObject({ deliveries: z.array(delivery) }),
  ]),
  plan: z.strictObject({
    name: text,
    inc: count,
    input: value(),
    started: z.nullable(count),
    stopped: z.exactOptional(z.literal(true)),
    resumptions: z.array(z.strictObject({ at: count, value: resumed })),
    wait: z.nullable(wait),
    inbox: z.array(z.tuple([count, receipt])),
    emissions: count,
    open: z.array(z.tuple([count, text])),
  }),
  rights: z.strictObject({
    exercise: z.nullable(capability),
    grant: z.nullable(capability),
    account: z.nullable(text),
    approved: z.array(z.tuple([text, z.nullable(count)])),
    holds: z.exactOptional(z.array(z.tuple([text, capability, count])).min(1)),
    reach: z.exactOptional(z.array(z.enum(['exercise', 'grant'])).min(1)),
    inc: z.exactOptional(count),
    revision: count,
  }),
  settled: z.strictObject({
    name: text,
    status: z.enum(RECEIPT_STATUSES),
    at: count,
    to: z.nullable(text),
    settler: z.exactOptional(address),
    owed: z.exactOptional(z.strictObject(booked)),
    approved: z.exactOptional(z.strictObject(decidedBy)),
    decided: z.exactOptional(z.strictObject(decidedBy)),
    asked: z.exactOptional(z.literal(true)),
    answers: z.exactOptional(z.array(z.strictObject({ n: count, to: z.nullable(text), ...decidedBy }))),
  }),
  table: z.union([
    z.strictObject({ bytes: count, keys: z.array(text), values: z.array(value()) }),
    z.strictObject({ keys: z.array(text), nodes: z.array(count) }),
  ]),
  timer: value(),
  world: z.strictObject({
    world: text,
    seed: text,
    semantics: count,
    policy: z.array(policyRule),
    governed: z.exactOptional(z.literal(true)),
    root: z.exactOptional(capability),
    fork: z.exactOptional(
      z.strictObject({
        from: z.strictObject({ world: text, seq: count, head: text }),
        mode: z.enum(['live', 'dry']),
        origins: z.array(text),
        recorded: z.nullable(ref()),
      }),
    ),
  }),
};

/** The types of the parts of a path after its kind; in brackets the parts that only some leaves of a kind have. */
const PATHS: Readonly<Record<LeafKind, string>> = {
  account: 't',
  asked: 'tt',
  cell: 'tt',
  effect: 't',
  failed: 'tt',
  log: 'ttt',
  pending: '[tn]',
  plan: 'tnt',
  rights: 't',
  settled: 't',
  table: 'ttnnt',
  timer: 'ntntt',
  world: '',
};

const compiled = new Map<string, SchemaNode>();

/**
 * Reads a leaf of a snapshot, and checks it against the shape of its kind.
 *
 * @throws RepriseError `journal_damaged` naming the leaf and what is wrong with it
 */
export function readLeaf({ path }: LeafKey, bytes: Uint8Array): Value {
  const [kind] = path;
  let node = compiled.get(kind);
  if (node === undefined) {
    if (!Object.hasOwn(SHAPES, kind)) throw notALeaf(path, 'a leaf of a known kind', kind);
    node = compileSchema(SHAPES[kind]);
    compiled.set(kind, node);
  }
  if (!fitsPath(PATHS[kind], path)) throw notALeaf(path, `the path of a leaf of kind ${kind}`, path.join(' '));
  const leaf = decoded(path, bytes);
  const checked = check(node, leaf);
  if (checked.ok) return leaf;
  throw notALeaf(path, `${checked.expected} at ${checked.path}`, checked.actual);
}

function fitsPath(parts: string, [, ...path]: LeafKey['path']): boolean {
  const found = path.map((part) => (typeof part === 'string' ? 't' : 'n')).join('');
  return parts.startsWith('[') ? found === '' || `[${found}]` === parts : found === parts;
}

function decoded(path: LeafKey['path'], bytes: Uint8Array): Value {
  try {
    return decode(bytes, FRAME_DEPTH_MAX);
  } catch (cause) {
    throw notALeaf(path, 'a canonical value', cause instanceof Error ? cause.message : cause);
  }
}

function notALeaf(path: LeafKey['path'], expected: string, actual: unknown): RepriseError {
  return new RepriseError('journal_damaged', 'a leaf of the snapshot does not have the shape of its kind', {
    where: `leaf ${path.join(' ')}`,
    expected,
    actual,
    hint: 'The snapshot was changed after it was written. Restore the store from a copy.',
  });
}
