/** Reads a frame's bytes as the records `[ingress, …derived, …attempts, state]`, and checks their shapes. */
import {
  type DerivedRecord,
  derivedRecord,
  type IngressRecord,
  ingressRecord,
  type JournalRecord,
  RepriseError,
  type RidingAttempt,
  requireArgument,
  ridingAttempt,
  type StateRecord,
  stateRecord,
  type Value,
} from '@reprise/contracts';
import { decodeScope, decodeScopeStart, FRAME_DEPTH_MAX } from '../../pure/codec/index.js';
import {
  encodeFrame,
  Misplaced,
  type Unchecked,
  unpackArmed,
  unpackDerived,
  unpackIngress,
  unpackLeaves,
} from '../../pure/record/index.js';
import { check, compileSchema, type SchemaNode } from '../../pure/schema/index.js';

/** A frame's records by role. */
export interface FrameRecords {
  readonly ingress: IngressRecord;
  readonly state: StateRecord;
  /** All records, in the order of the frame. */
  readonly all: readonly JournalRecord[];
}

let shapes: { ingress: SchemaNode; derived: SchemaNode; attempt: SchemaNode; state: SchemaNode } | undefined;

/** The record schemas are compiled at first use: an import costs nothing. */
function recordShapes() {
  shapes ??= {
    ingress: compileSchema(ingressRecord),
    derived: compileSchema(derivedRecord),
    attempt: compileSchema(ridingAttempt),
    state: compileSchema(stateRecord),
  };
  return shapes;
}

/**
 * Decodes a frame.
 *
 * @param bytes the frame's canonical bytes
 * @param seq its expected number, for the error
 * @throws RepriseError `journal_damaged` naming the frame when it is not canonical or not a frame
 */
export function readFrame(bytes: Uint8Array, seq: number): FrameRecords {
  requireArgument(bytes instanceof Uint8Array, 'readFrame(bytes)', 'the bytes of a frame, as a Uint8Array', bytes);
  const { ingress, derived, attempts, state } = within(seq, () => unpackFrame(decodeScope(bytes, FRAME_DEPTH_MAX)));
  const shapes = recordShapes();
  const records = [ingress, ...derived, ...attempts, state] as readonly Value[];
  expectShape(shapes.ingress, ingress, seq, 0);
  for (const [i, record] of derived.entries()) expectShape(shapes.derived, record, seq, i + 1);
  for (const [i, record] of attempts.entries()) expectShape(shapes.attempt, record, seq, derived.length + 1 + i);
  expectShape(shapes.state, state, seq, records.length - 1);
  const head = ingress as unknown as IngressRecord;
  requireNumber(head, seq);
  return {
    ingress: head,
    state: state as unknown as StateRecord,
    all: records as unknown as readonly JournalRecord[],
  };
}

/**
 * The records of a frame for a reader that only looks: what {@link readFrame} gives, without a check of their shapes, which
 * is a third of its price in a process that has just begun. A reader that cannot take them asks `readFrame`, which says what is wrong.
 *
 * @throws RepriseError `journal_damaged` naming the frame when its bytes are not canonical or not a frame
 */
export function skimFrame(bytes: Uint8Array, seq: number): readonly JournalRecord[] {
  const { ingress, derived, attempts, state } = within(seq, () => unpackFrame(decodeScope(bytes, FRAME_DEPTH_MAX)));
  const records: readonly unknown[] = [ingress, ...derived, ...attempts, state];
  return records as readonly JournalRecord[];
}

/**
 * The records of a frame that was written: what {@link readFrame} gives of its bytes, without them. Who wrote it has
 * checked its shapes.
 *
 * @param packed the list that the bytes encode, as decoding them would give it; its values stand in the records
 */
export function writtenRecords(packed: Value): readonly JournalRecord[] {
  const { ingress, derived, attempts, state } = unpackFrame(packed);
  const records: readonly unknown[] = [ingress, ...derived, ...attempts, state];
  return records as readonly JournalRecord[];
}

interface Unpacked {
  readonly ingress: Unchecked;
  readonly derived: readonly Unchecked[];
  readonly attempts: readonly Unchecked[];
  readonly state: Unchecked;
}

function unpackFrame(frame: Value): Unpacked {
  const [first, armed, rest, leaves, ...more] = Array.isArray(frame) ? (frame as readonly Value[]) : [];
  if (!Array.isArray(rest) || leaves === undefined || more.length > 0) throw new Misplaced(NO_FRAME);
  const derived = (rest as readonly Value[]).map((record, i) => unpackDerived(record, i + 1));
  const attempts = unpackArmed(armed).map((effect) => ({
    kind: 'attempt',
    effect: armedIn(derived, effect),
    attempt: 1,
  }));
  const ingress = unpackIngress(first);
  return { ingress, derived, attempts, state: unpackLeaves(leaves, ingress) };
}

const NO_FRAME = 'a frame is a list of an ingress, the armed effects, the derived records and the touched leaves';

/** The id of an armed effect, which may be that of a record in the frame. */
function armedIn(derived: readonly Unchecked[], effect: number | string): Value {
  if (typeof effect === 'string') return effect;
  const record = derived[effect - 1];
  if (record?.kind === 'effect') return record.effect as Value;
  throw new Misplaced(`the frame arms record ${effect}, which is no effect`);
}

/** Words errors of reading as damage of a frame. */
function within<T>(seq: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const record = error instanceof Misplaced ? error.record : undefined;
    throw damaged(seq, error instanceof Error ? error.message : 'not canonical bytes', record, error);
  }
}

function requireNumber(ingress: IngressRecord, seq: number): void {
  if (ingress.seq !== seq) throw damaged(seq, `the frame claims the number ${ingress.seq}`, 0);
}

/**
 * Writes the records of a frame, in the order in which {@link readFrame} gives them: for tools that make journals. What
 * a world journals is written by its engine.
 *
 * @param records `[ingress, …derived, …attempts, state]`; their shapes are not checked
 * @throws RepriseError `invalid_value` when one holds something that is no value
 * @example writeFrame(readFrame(bytes, 7).all) // the same bytes
 */
export function writeFrame(records: readonly JournalRecord[]): Uint8Array {
  const attempts = records.filter((record): record is RidingAttempt => record.kind === 'attempt' && !('seq' in record));
  return encodeFrame({
    ingress: records[0] as IngressRecord,
    derived: records.slice(1, records.length - 1 - attempts.length) as DerivedRecord[],
    attempts,
    state: records[records.length - 1] as StateRecord,
  }).bytes;
}

/**
 * Refuses an ingress that no reader of the journal would accept, before it is written.
 *
 * @throws RepriseError `internal_error`: the code that made it should have refused it
 */
export function assertIngress(ingress: IngressRecord): void {
  const checked = check(recordShapes().ingress, ingress as unknown as Value);
  if (checked.ok) return;
  throw new RepriseError('internal_error', `a ${ingress.kind} that cannot be read back`, {
    where: checked.path,
    expected: checked.expected,
    actual: checked.actual,
  });
}

/** The inputs of replay in a frame. */
export interface FrameInputs {
  readonly ingress: IngressRecord;
  /** The effects that the frame arms: each by the index of its record in the frame, or by its id. */
  readonly armed: readonly (number | string)[];
}

/**
 * Decodes only the inputs of replay: the ingress and the armed effects. What comes after them is regenerated and
 * compared as bytes.
 *
 * @throws RepriseError `journal_damaged` naming the frame
 */
export function readInputs(bytes: Uint8Array, seq: number): FrameInputs {
  const { first, armed } = within(seq, () => {
    const [packed, arms] = decodeScopeStart(bytes, 2, FRAME_DEPTH_MAX);
    return { first: unpackIngress(packed), armed: unpackArmed(arms) };
  });
  expectShape(recordShapes().ingress, first, seq, 0);
  const ingress = first as unknown as IngressRecord;
  requireNumber(ingress, seq);
  return { ingress, armed };
}

function expectShape(node: SchemaNode, record: Value, seq: number, i: number): void {
  const checked = check(node, record);
  if (!checked.ok) throw damaged(seq, `${checked.path}: expected ${checked.expected}, got ${checked.actual}`, i);
}

/** The error for a frame whose bytes no writer of this kernel can have written. */
export function damaged(seq: number, what: string, record?: number, cause?: unknown): RepriseError {
  return new RepriseError('journal_damaged', what, {
    where: record === undefined ? `frame ${seq}` : `frame ${seq}, record ${record}`,
    seq,
    hint: 'The journal was changed after it was written, or its storage is failing. Restore it from a copy.',
    ...(cause === undefined ? {} : { cause }),
  });
}
