/** Turns frames into the entries that views fold: the records that a view chose, their cells, and their checked values. */
import type { Address, JournalRecord, PlanAddress, Value } from '@reprise/contracts';
import { parseAddress, RepriseError } from '@reprise/contracts';
import type { CompiledSources, EffectSeen, Entry } from '../../pure/define/index.js';
import { check, type SchemaNode } from '../../pure/schema/index.js';
import type { WorldFrame } from '../../run/world/read/reading.js';

/** Finds what emitted an effect; null when the journal has not said so. May throw to load a missing entry. */
type EffectLookup = (effect: string) => EffectSeen | null;

/** Records that name an effect and nothing else about it. */
const ABOUT_EFFECTS = ['attempt', 'deferred', 'ask', 'settled', 'receipt', 'late', 'command'];

/** What the sources of a view say of records, by their kind. */
interface Chosen {
  /** Whether the view has to know what emitted each effect. */
  readonly needsEffects: boolean;
  /** Whether a record of this kind may be chosen; most records are not, and looking up an effect costs a read. */
  mayBe(kind: string): boolean;
}

const known = new WeakMap<CompiledSources, Chosen>();

/** What a view's sources choose. Found once for each view: each record of each frame is asked for its kind. */
export function chosenOf(from: CompiledSources): Chosen {
  const before = known.get(from);
  if (before !== undefined) return before;
  const kinds = new Set([...from.keys()].map((name) => name.split(':', 1)[0] as string));
  if (kinds.has('event')) kinds.add('request');
  const mayBe = (kind: string) => kinds.has(kind) || kinds.has('*');
  const chosen = { mayBe, needsEffects: ABOUT_EFFECTS.some(mayBe) };
  known.set(from, chosen);
  return chosen;
}

/** The effect that a record emits, or would have emitted had it not been denied. */
export function emittedBy(record: JournalRecord): EffectSeen | null {
  if (record.kind === 'effect') {
    const { effect, name, plan } = record;
    return { id: effect, name, cell: ownerOf(plan), plan: plan[2] };
  }
  if (record.kind !== 'denial' || record.effect === undefined) return null;
  const cell = cellNamedBy(record.who);
  return cell && { id: record.effect, name: record.what, cell, plan: null };
}

/**
 * The entry of one record, whose kind the view may choose; undefined when the view did not choose it.
 *
 * @throws RepriseError `invalid_value` when the value does not fit the schema that the view declares
 */
export function entryOf(from: CompiledSources, frame: WorldFrame, i: number, lookup: EffectLookup): Entry | undefined {
  const record = frame.records[i];
  if (record === undefined) return undefined;
  const effect = effectOf(record, lookup);
  const source = chosenBy(from, record, effect);
  if (source === undefined) return undefined;
  const value = checkedValue(from.get(source) ?? null, dataOf(record));
  const { seq, at, records } = frame;
  return { from: source, record, value, seq, i, at, cell: cellOf(record, effect), effect, frame: records };
}

/** The names of a record, the most specific first: a request is an event that came from outside. */
function kindsOf(kind: string): readonly string[] {
  return kind === 'request' ? ['request', 'event'] : [kind];
}

/** The most specific source that matches. */
function chosenBy(from: CompiledSources, record: JournalRecord, effect: EffectSeen | null): string | undefined {
  const name = nameOf(record, effect);
  const kinds = kindsOf(record.kind);
  const exact = name === undefined ? undefined : kinds.find((kind) => from.has(`${kind}:${name}`));
  if (exact !== undefined) return `${exact}:${name}`;
  return kinds.find((kind) => from.has(kind)) ?? (from.has('*') ? '*' : undefined);
}

function nameOf(record: JournalRecord, effect: EffectSeen | null): string | undefined {
  switch (record.kind) {
    case 'request':
    case 'event':
      return record.event.name;
    case 'command':
      return record.command.name;
    case 'fact':
    case 'intent':
    case 'effect':
      return record.name;
    case 'denial':
      return record.what;
    default:
      return effect?.name;
  }
}

function effectOf(record: JournalRecord, lookup: EffectLookup): EffectSeen | null {
  const emitted = emittedBy(record);
  if (emitted !== null) return emitted;
  const named = record.kind === 'command' ? record.command.value : record;
  return 'effect' in named && typeof named.effect === 'string' ? lookup(named.effect) : null;
}

/** The cell that a record concerns. */
function cellOf(record: JournalRecord, effect: EffectSeen | null): Address | null {
  switch (record.kind) {
    case 'request':
    case 'event':
      return record.to;
    case 'intent':
    case 'plan_ended':
      return ownerOf(record.plan);
    case 'cell_command':
      return record.from;
    case 'timer':
      return record.cell;
    case 'fault':
      return ownerOf(record.target);
    case 'fact':
      return record.from === null ? null : ownerOf(record.from);
    case 'denial':
      return cellNamedBy(record.who);
    default:
      return effect?.cell ?? null;
  }
}

/** The cell that a principal is; null for people, the operator and the kernel. */
function cellNamedBy(who: string): Address | null {
  return who.startsWith('cell:') ? parseAddress(who.slice('cell:'.length)) : null;
}

function ownerOf(of: Address | PlanAddress): Address {
  return [of[0], of[1]];
}

/** The author's own data in a record. */
function dataOf(record: JournalRecord): Value | undefined {
  switch (record.kind) {
    case 'request':
    case 'event':
      return record.event.value;
    case 'command':
      return record.command.value as unknown as Value;
    case 'fact':
      return record.value;
    case 'ask':
      return record.question;
    case 'intent':
      return record.input;
    case 'effect':
      return record.params;
    case 'receipt':
      return record.receipt.payload;
    default:
      return undefined;
  }
}

function checkedValue(node: SchemaNode | null, value: Value | undefined): Value | undefined {
  if (node === null || value === undefined) return value;
  const checked = check(node, value);
  if (checked.ok) return checked.value;
  const { path, expected, actual } = checked;
  throw new RepriseError('invalid_value', 'a record does not match the source of the view', {
    where: path,
    expected,
    actual,
  });
}
