/** Reads a frame's bytes as records, checking the shape that `[ingress, …derived, …attempts, state]` promises. */
import {
  derivedRecord,
  type IngressRecord,
  ingressRecord,
  type JournalRecord,
  RepriseError,
  type RidingAttempt,
  ridingAttempt,
  type StateRecord,
  stateRecord,
  type Value,
} from '@reprise/contracts';
import { decode, FRAME_DEPTH_MAX, listSlices } from '../../pure/codec/index.js';
import { check, compileSchema, type SchemaNode } from '../../pure/schema/index.js';

/** A frame's records by role. */
export interface FrameRecords {
  readonly ingress: IngressRecord;
  /** The riding attempts: with the ingress, the inputs of replay. */
  readonly attempts: readonly RidingAttempt[];
  readonly state: StateRecord;
  /** All records, in order. */
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
  const records = decodeFrame(bytes, seq);
  const [first, last] = [records[0], records[records.length - 1]];
  if (first === undefined || last === undefined || records.length < 2)
    throw damaged(seq, 'a frame has an ingress and a state record');
  const { ingress, derived, attempt, state } = recordShapes();
  expectShape(ingress, first, seq, 0);
  expectShape(state, last, seq, records.length - 1);
  const attempts: RidingAttempt[] = [];
  for (const [i, record] of records.entries()) {
    if (i === 0 || i === records.length - 1) continue;
    const riding = (record as { readonly kind?: unknown } | null)?.kind === 'attempt';
    if (!riding && attempts.length > 0) throw damaged(seq, 'a derived record after the attempts', i);
    expectShape(riding ? attempt : derived, record, seq, i);
    if (riding) attempts.push(record as unknown as RidingAttempt);
  }
  const head = first as unknown as IngressRecord;
  if (head.seq !== seq) throw damaged(seq, `the frame claims the number ${head.seq}`, 0);
  return {
    ingress: head,
    attempts,
    state: last as unknown as StateRecord,
    all: records as unknown as readonly JournalRecord[],
  };
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
export type FrameInputs = Pick<FrameRecords, 'ingress' | 'attempts'>;

/**
 * Decodes only the inputs of replay: the ingress and the riding attempts. The records between them are
 * regenerated and compared as bytes.
 *
 * @throws RepriseError `journal_damaged` naming the frame
 */
export function readInputs(bytes: Uint8Array, seq: number): FrameInputs {
  const slices = cut(bytes, seq);
  const { ingress, attempt } = recordShapes();
  const first = decodePart(slices[0], seq, 0);
  expectShape(ingress, first, seq, 0);
  if ((first as unknown as IngressRecord).seq !== seq) {
    throw damaged(seq, `the frame claims the number ${(first as unknown as IngressRecord).seq}`, 0);
  }
  const attempts: RidingAttempt[] = [];
  for (let i = slices.length - 2; i > 0; i--) {
    const record = decodePart(slices[i], seq, i);
    if ((record as { readonly kind?: unknown } | null)?.kind !== 'attempt') break;
    expectShape(attempt, record, seq, i);
    attempts.unshift(record as unknown as RidingAttempt);
  }
  return { ingress: first as unknown as IngressRecord, attempts };
}

function cut(bytes: Uint8Array, seq: number): readonly Uint8Array[] {
  try {
    return listSlices(bytes);
  } catch (error) {
    throw damaged(seq, error instanceof Error ? error.message : 'not a list of records', undefined, error);
  }
}

function decodePart(slice: Uint8Array | undefined, seq: number, i: number): Value {
  if (slice === undefined) throw damaged(seq, 'a frame has an ingress and a state record');
  try {
    return decode(slice, FRAME_DEPTH_MAX);
  } catch (error) {
    throw damaged(seq, error instanceof Error ? error.message : 'not canonical bytes', i, error);
  }
}

function decodeFrame(bytes: Uint8Array, seq: number): readonly Value[] {
  let value: Value;
  try {
    value = decode(bytes, FRAME_DEPTH_MAX);
  } catch (error) {
    throw damaged(seq, error instanceof Error ? error.message : 'not canonical bytes', undefined, error);
  }
  if (!Array.isArray(value)) throw damaged(seq, 'a frame is a list of records');
  return value as readonly Value[];
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
