/**
 * Writes the record that ends every frame: what changed in the leaves, as far as the other records do not say it.
 *
 * Together with the records before it the state record determines every leaf: the leaves before the frame were equal in
 * both runs, so equal changes make equal leaves. Therefore nothing is stated twice, and no leaf is written whole.
 *
 * | leaf | stated | what else is in it, and where it stands |
 * | --- | --- | --- |
 * | cell | its state's fields, `inc`, `live`, `failed`, `timers`, `asks` | running plans: intents, ends of plans; its maker: events; tables and logs: their own leaves |
 * | log | items, links of sealed chunks, how far its last head reaches | its length, the head itself |
 * | plan | what it waits for, what its awaits returned, its inbox | its input: the intent; its open effects: their records |
 * | effect | that it left, its generation, the end of its grace | all else: its own record, attempts, inputs from outside |
 * | timer | – | its cell, its plan, its effect |
 * | failed, asked | – | its cell: `failed` and the fault; `asks` and the events |
 * | others | every field | |
 */
import type { StateRecord, Value } from '@reprise/contracts';
import { encodeEach, encodeItems, equalValues, type Hash, isWithinBytes } from '../../codec/index.js';
import { packWait, STATE_PREFIX } from '../../record/index.js';
import { encodedValue } from './encoded-value.js';
import type { LeafKind } from './leaf-key.js';
import type { CellLeaf, EffectLeaf, LeafChange, LogLeaf, PlanLeaf } from './leaves.js';
import { isBranch, type TableNode } from './table-node.js';

/** A changed field is shown by value up to this many bytes, by digest beyond. */
const INLINE_BYTES_MAX = 48;

/** Text of so many units is certain to fit, since a unit takes three bytes at most. */
const SHORT_UNITS = 15;

type Changed = Record<string, Uint8Array | Value[]>;

/** A field that is shown by digest, once its bytes are written. */
interface LongField {
  readonly of: Changed;
  readonly name: string;
  /** The value as its bytes are hashed. */
  readonly packed: unknown;
}

/** A leaf's fields that may be stated. */
type Stated = Readonly<Record<string, unknown>>;

/** The state record of these changes; leaves of which nothing is to be stated are left out. */
export function stateRecord(changes: readonly LeafChange[], hash: Hash): StateRecord {
  const leaves: StateRecord['leaves'] = [];
  const long: LongField[] = [];
  for (const change of inOrder(changes)) {
    const stated = statedOf(change, hash, long);
    if (stated !== undefined) leaves.push([change.key.path.slice() as StateRecord['leaves'][number][0], stated]);
  }
  if (long.length > 0) hashLong(long, hash);
  return { kind: 'state', leaves };
}

function hashLong(long: readonly LongField[], hash: Hash): void {
  const written = encodeEach(long.map(({ packed }) => packed));
  long.forEach(({ of, name }, i) => {
    of[name] = hash(written[i] as Uint8Array);
  });
}

/** In the order of their keys, whatever the order in which they were touched. */
function inOrder(changes: readonly LeafChange[]): readonly LeafChange[] {
  return [...changes].sort((a, b) => (a.key.id < b.key.id ? -1 : 1));
}

/** The stated fields; null for a leaf that left, undefined when there is nothing to state. */
function statedOf({ key, before, after }: LeafChange, hash: Hash, long: LongField[]): Changed | null | undefined {
  if (before === after) return undefined;
  const kind = key.path[0];
  if (after === undefined) return LEAVES_SILENTLY.has(kind) || before === undefined ? undefined : null;
  const changed = new ChangedFields(hash, long);
  changed.state(kind, before, after);
  return Object.keys(changed.found).length === 0 ? undefined : changed.found;
}

/** Kinds of leaves whose end another record states. */
const LEAVES_SILENTLY: ReadonlySet<LeafKind> = new Set(['asked', 'failed', 'plan', 'timer']);

class ChangedFields {
  readonly found: Changed = {};

  /** @param long takes the fields that are shown by digest: all of a frame are written with one writer */
  constructor(
    private readonly hash: Hash,
    private readonly long: LongField[],
  ) {}

  state(kind: LeafKind, before: unknown, after: unknown): void {
    switch (kind) {
      case 'cell':
        return this.#cell(before as CellLeaf | undefined, after as CellLeaf);
      case 'log':
        return this.#compare(EMPTY, logGrowth(before as LogLeaf | undefined, after as LogLeaf), '');
      case 'plan':
        return this.#plan(before as PlanLeaf | undefined, after as PlanLeaf);
      case 'effect':
        return this.#compare(effectMarks(before as EffectLeaf | undefined), effectMarks(after as EffectLeaf), '');
      case 'asked':
      case 'failed':
      case 'timer':
        return;
      case 'table':
        return this.#table(before as TableNode | undefined, after as TableNode);
      default:
        return this.#compare((before ?? EMPTY) as Stated, after as Stated, '');
    }
  }

  #cell(before: CellLeaf | undefined, after: CellLeaf): void {
    this.#compare(before === undefined ? NO_CELL : cellMarks(before), cellMarks(after), '');
    // An ended cell has no state, and that it ended is stated.
    if (after.live && before?.state !== after.state) this.#compare(before?.state ?? EMPTY, after.state, STATE_PREFIX);
  }

  #plan(before: PlanLeaf | undefined, after: PlanLeaf): void {
    const resumed = after.resumptions.slice(before?.resumptions.length ?? 0);
    if (resumed.length > 0) this.#set('resumed', resumed);
    if (!equalValues((before?.wait ?? null) as Value, after.wait as Value)) {
      this.#state('wait', after.wait as Value, packWait(after.wait as Value));
    }
    this.#compare(before === undefined ? NO_PLAN : planMarks(before), planMarks(after), '');
  }

  /** The values of a node are encoded one by one: most of them stood there before. */
  #table(before: TableNode | undefined, after: TableNode): void {
    if (isBranch(after) || before === undefined || isBranch(before)) {
      return this.#compare((before ?? EMPTY) as Stated, after as unknown as Stated, '');
    }
    const { values: was, ...rest } = before;
    const { values, ...now } = after;
    this.#compare(rest, now, '');
    if (!equalValues(was, values)) this.#written('values', values, encodeItems(values.map(encodedValue)));
  }

  #compare(before: Stated, after: Stated, prefix: string): void {
    for (const name of Object.keys(after)) {
      const was = before[name] as Value;
      const value = after[name] as Value;
      if (value === was || value === undefined) continue; // what a delivery left as it was is the same object
      if (!equalValues(was, value)) this.#set(prefix + name, value);
    }
    for (const name of Object.keys(before)) {
      if (before[name] !== undefined && after[name] === undefined) this.found[prefix + name] = [];
    }
  }

  /** What is certain to take few bytes is shown by value without a look at them. */
  #set(name: string, value: unknown): void {
    const isShort = typeof value === 'string' ? value.length <= SHORT_UNITS : typeof value !== 'object';
    if (isShort) this.found[name] = [value as Value];
    else this.#state(name, value as Value, value as Value);
  }

  /** @param packed the value as its bytes are counted and hashed */
  #state(name: string, value: Value, packed: Value): void {
    const isShort = isWithinBytes(packed, INLINE_BYTES_MAX);
    this.found[name] = isShort ? [value] : [];
    if (!isShort) this.long.push({ of: this.found, name, packed });
  }

  #written(name: string, value: Value, bytes: Uint8Array): void {
    this.found[name] = bytes.length <= INLINE_BYTES_MAX ? [value] : this.hash(bytes);
  }
}

const EMPTY: Stated = {};

function cellMarks({ inc, live, failed, timers, asks }: CellLeaf): Stated {
  return { inc, live, failed, timers, asks };
}

/** What a new cell is compared with: that it exists is always stated, as its generation. */
const NO_CELL: Stated = { live: true, failed: null, timers: {} };

/** The links of sealed chunks when one was added, the items that were appended behind them, and the last head. */
function logGrowth(before: LogLeaf | undefined, after: LogLeaf): Stated {
  const head = after.head?.items;
  if (sealedItems(before) !== sealedItems(after)) return { levels: after.levels, items: after.tail, head };
  const items = after.tail.slice(before?.tail.length ?? 0);
  return { items: items.length > 0 ? items : undefined, head: head === before?.head?.items ? undefined : head };
}

function sealedItems(log: LogLeaf | undefined): number {
  return log === undefined ? 0 : log.count - log.tail.length;
}

function planMarks({ inbox, stopped }: PlanLeaf): Stated {
  return { inbox, stopped };
}

const NO_PLAN: Stated = { inbox: [] };

function effectMarks(effect: EffectLeaf | undefined): Stated {
  return effect === undefined ? EMPTY : { inc: effect.inc, cancelled: effect.cancelled };
}
