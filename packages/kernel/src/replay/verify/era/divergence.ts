/** Explains a replay divergence: the first record that differs, the path in it, both values, and its causes. */
import { type JournalRecord, RepriseError, type StateRecord, type Value, type ValueMap } from '@reprise/contracts';
import { encode, equalBytes, FRAME_DEPTH_MAX } from '../../../pure/codec/index.js';

/** The first record that replay derives differently, as data for programs. */
export interface Divergence {
  readonly seq: number;
  /** The record's index in the frame. */
  readonly i: number;
  readonly kind: string;
  /** The path in the record, for example `$.params.cents` or, in a state record, the leaf and its field. */
  readonly path: string;
  readonly recorded: Value | undefined;
  readonly regenerated: Value | undefined;
  /** From the differing record back to the ingress: `kind` and the name of each. */
  readonly cause: readonly string[];
}

/** Finds the first difference between a frame as it was recorded and as it was replayed. */
export function explain(
  seq: number,
  recorded: readonly JournalRecord[],
  regenerated: readonly JournalRecord[],
): Divergence {
  const length = Math.max(recorded.length, regenerated.length);
  for (let i = 0; i < length; i++) {
    const [was, is] = [asValue(recorded[i]), asValue(regenerated[i])];
    if (sameValue(was, is)) continue;
    const at = differenceOf(recorded[i], regenerated[i]);
    const known = recorded[i] ?? regenerated[i];
    const side = recorded[i] === undefined ? regenerated : recorded;
    return { seq, i, kind: known?.kind ?? 'nothing', ...at, cause: causeOf(side, i) };
  }
  return { seq, i: 0, kind: 'frame', path: '$', recorded: undefined, regenerated: undefined, cause: [] };
}

/** The difference for an ingress that was admitted when recorded and is refused now. */
export function refused(ingress: JournalRecord, seq: number): Divergence {
  const recorded = asValue(ingress);
  return { seq, i: 0, kind: ingress.kind, path: '$', recorded, regenerated: undefined, cause: causeOf([ingress], 0) };
}

/**
 * The error that a divergence is thrown as.
 *
 * @param touched the globals that pure code reached for while it replayed the frame, if known
 */
export function divergenceError(divergence: Divergence, touched: readonly string[] = []): RepriseError {
  const { seq, i, kind, path, recorded, regenerated, cause } = divergence;
  return new RepriseError('replay_divergence', `replaying frame ${seq} gave another ${kind}`, {
    where: `frame ${seq}, record ${i} (${kind}), ${path}`,
    expected: recorded === undefined ? 'nothing' : recorded,
    actual: regenerated === undefined ? 'nothing' : regenerated,
    hint: `Caused by ${cause.join(' ← ')}. ${reachedFor(touched)}The app differs from the one that wrote this frame, or depends on something that is not journaled.`,
    divergence,
  });
}

function reachedFor(touched: readonly string[]): string {
  return touched.length === 0 ? '' : `Pure code reached for ${touched.join(', ')}. `;
}

interface Difference {
  readonly path: string;
  readonly recorded: Value | undefined;
  readonly regenerated: Value | undefined;
}

function differenceOf(was: JournalRecord | undefined, is: JournalRecord | undefined): Difference {
  const [recorded, regenerated] = [asValue(was), asValue(is)];
  // Between records of two kinds, a field with the same name means nothing.
  if (was?.kind !== is?.kind) return { path: '$', recorded, regenerated };
  // Fields that identify a record come before its other fields.
  const [name, other] = [nameOf(was), nameOf(is)];
  if (name !== other) return { path: '$.name', recorded: name, regenerated: other };
  if (was?.kind === 'effect' && is?.kind === 'effect') {
    // The id is a digest of the rest: what differs in the rest says more.
    const [a, b] = [asValue({ ...was, effect: '' }), asValue({ ...is, effect: '' })];
    if (!sameValue(a, b)) return firstDifference(a, b, '$');
  }
  return stateDifference(was, is) ?? firstDifference(recorded, regenerated, '$');
}

function nameOf(record: JournalRecord | undefined): string | undefined {
  return record !== undefined && 'name' in record ? record.name : undefined;
}

function firstDifference(was: Value | undefined, is: Value | undefined, path: string): Difference {
  if (isList(was) && isList(is)) {
    for (let i = 0; i < Math.max(was.length, is.length); i++) {
      if (!sameValue(was[i], is[i])) return firstDifference(was[i], is[i], `${path}[${i}]`);
    }
  }
  if (isMap(was) && isMap(is)) {
    for (const key of [...new Set([...Object.keys(was), ...Object.keys(is)])].sort()) {
      if (!sameValue(was[key], is[key])) return firstDifference(was[key], is[key], `${path}.${key}`);
    }
  }
  return { path, recorded: was, regenerated: is };
}

/** In a state record: the leaf and the field; leaves are matched by key, not by place. */
function stateDifference(was: JournalRecord | undefined, is: JournalRecord | undefined): Difference | undefined {
  if (was?.kind !== 'state' || is?.kind !== 'state') return undefined;
  const leaves = new Map<string, { was?: TouchedLeaf; is?: TouchedLeaf }>();
  for (const leaf of was.leaves) leaves.set(leaf[0].join(' '), { was: leaf });
  for (const leaf of is.leaves) leaves.set(leaf[0].join(' '), { ...leaves.get(leaf[0].join(' ')), is: leaf });
  for (const [name, pair] of leaves) {
    const [recorded, regenerated] = [pair.was, pair.is];
    if (recorded !== undefined && regenerated !== undefined && sameValue(asData(recorded), asData(regenerated)))
      continue;
    const path = `$.leaves[${name}]`;
    if (recorded === undefined || regenerated === undefined) {
      return { path, recorded: recorded && fieldsOf(recorded), regenerated: regenerated && fieldsOf(regenerated) };
    }
    return fieldDifference(recorded, regenerated, path);
  }
  return undefined;
}

type TouchedLeaf = StateRecord['leaves'][number];

function asData(leaf: TouchedLeaf): Value {
  return leaf as unknown as Value;
}

function fieldsOf(leaf: TouchedLeaf): Value {
  return leaf[1] as unknown as Value;
}

/** A field of a touched leaf is `[value]`, its digest, or `[]` when it is gone: people want to see the value. */
function fieldDifference(was: TouchedLeaf, is: TouchedLeaf, path: string): Difference {
  const difference = firstDifference(fieldsOf(was), fieldsOf(is), path);
  return {
    path: difference.path.replace(/\[0\]$/, ''),
    recorded: shown(difference.recorded),
    regenerated: shown(difference.regenerated),
  };
}

function shown(field: Value | undefined): Value | undefined {
  return isList(field) ? field[0] : field;
}

function causeOf(records: readonly JournalRecord[], from: number): string[] {
  const chain: string[] = [];
  let i = from;
  for (let guard = 0; guard < records.length; guard++) {
    const record = records[i];
    if (record === undefined) break;
    chain.push(describe(record, i));
    if (i === 0 || !('c' in record)) break;
    i = record.c;
  }
  if (!chain.some((line) => line.startsWith('#0 '))) {
    const ingress = records[0];
    if (ingress !== undefined) chain.push(describe(ingress, 0));
  }
  return chain;
}

function describe(record: JournalRecord, i: number): string {
  switch (record.kind) {
    case 'request':
    case 'event':
      return `#${i} ${record.kind} ${record.event.name} to ${record.to.join('/')}`;
    case 'intent':
    case 'effect':
    case 'fact':
      return `#${i} ${record.kind} ${record.name}`;
    case 'denial':
      return `#${i} denial of ${record.what}`;
    case 'command':
      return `#${i} command ${record.command.name}`;
    case 'late':
    case 'deferred':
    case 'ask':
    case 'receipt':
    case 'attempt':
    case 'settled':
      return `#${i} ${record.kind} of effect ${record.effect.slice(0, 12)}`;
    case 'timer':
      return `#${i} timer ${record.name} of ${record.cell.join('/')}`;
    default:
      return `#${i} ${record.kind}`;
  }
}

function asValue(record: JournalRecord | undefined): Value | undefined {
  return record as unknown as Value | undefined;
}

function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalBytes(encode(a, FRAME_DEPTH_MAX), encode(b, FRAME_DEPTH_MAX));
}

function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function isMap(value: Value | undefined): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
