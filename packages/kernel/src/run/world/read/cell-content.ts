/**
 * Finds the content that belongs to certain cells: linked by their records and by no others.
 *
 * Content reaches a cell only through an event or a receipt, so the journal knows more than the state: it also names
 * content that the cell has forgotten, and content that its effects linked without passing it to the cell.
 */
import type { Address, JournalRecord, Ref, Value } from '@reprise/contracts';
import { linksIn } from '../../../ports/content/links.js';
import type { ContentReader } from '../../../ports/content/port.js';
import { readFrame } from '../../../ports/journal/frame.js';
import type { ReadableJournal } from '../../../ports/journal/port.js';
import { linksOf } from '../../../pure/codec/index.js';

/** Content that was found, by the place of its first mention. */
interface FoundContent {
  /** Linked by these cells alone. */
  readonly own: readonly Ref[];
  /** Linked by others as well. */
  readonly shared: readonly SharedContent[];
}

/** Content that other cells link as well. */
interface SharedContent {
  readonly ref: Ref;
  /** The first other cell that links it; undefined where a record of no cell does. */
  readonly keeper: Address | undefined;
}

/** The cells of a search. */
interface SearchedCells {
  /** The cells whose content is searched. */
  readonly cells: readonly Address[];
  /** Cells that passed content on or read it: what their records link is not kept for that. */
  readonly passing: readonly Address[];
}

type Side = 'own' | 'passing' | 'other';

/** A cell of the search, or another one, and on which side its records stand. */
interface Whose {
  readonly side: Side;
  readonly cell: Address | undefined;
}

/** A search through the journal, which can be continued when the journal has grown. */
export class CellContent {
  readonly #own = new Map<string, Ref>();
  readonly #others = new Map<string, SharedContent>();
  readonly #sides: ReadonlyMap<string, Side>;
  /** The cells of effects: of this search's all, of others the open ones. */
  readonly #effects = new Map<string, Whose>();
  #next = 0;

  constructor(
    private readonly journal: ReadableJournal,
    private readonly content: ContentReader,
    { cells, passing }: SearchedCells,
  ) {
    const sides = (of: readonly Address[], side: Side) => of.map((cell) => [nameOf(cell), side] as const);
    this.#sides = new Map([...sides(passing, 'passing'), ...sides(cells, 'own')]);
  }

  /** Reads on, up to a frame. */
  async readTo(seq: number): Promise<void> {
    for await (const stored of this.journal.read(this.#next, seq)) {
      for (const record of readFrame(stored.bytes, stored.seq).all) await this.#take(record);
      this.#next = stored.seq + 1;
    }
  }

  /** The content found so far. */
  get found(): FoundContent {
    const others = new Map([...this.#others.values()].map((shared) => [shared.ref.hex, shared]));
    const all = [...new Map([...this.#own.values()].map((ref) => [ref.hex, ref])).values()];
    const shared = all.flatMap((ref) => {
      const other = others.get(ref.hex);
      return other === undefined ? [] : [{ ref, keeper: other.keeper }];
    });
    return { own: all.filter(({ hex }) => !others.has(hex)), shared };
  }

  async #take(record: JournalRecord): Promise<void> {
    // The map and the digests of state belong to the world itself; what they contain came in by other records.
    if (record.kind === 'snapshot' || record.kind === 'state') return;
    const whose = this.#whose(record);
    const { side, cell: keeper } = whose;
    if (record.kind === 'effect') this.#effects.set(record.effect, whose);
    if (side !== 'passing') {
      const links = linksOf(record as unknown as Value);
      if (side === 'own') await this.#follow(links, this.#own, (ref) => ref);
      else await this.#follow(links, this.#others, (ref) => ({ ref, keeper }));
    }
    // Later answers of others' effects say no more than that no cell of the search has them.
    if (side === 'other' && (record.kind === 'receipt' || record.kind === 'settled'))
      this.#effects.delete(record.effect);
  }

  #whose(record: JournalRecord): Whose {
    switch (record.kind) {
      case 'request':
      case 'event':
        return this.#of(record.to);
      case 'intent':
      case 'effect':
        return this.#of(record.plan);
      case 'fact':
        return this.#of(record.from);
      case 'receipt':
      case 'settled':
      case 'ask':
        return this.#effects.get(record.effect) ?? OTHER;
      case 'command':
      case 'cell_command': // an outcome is for the cell that waits for it, not for the one that states it
        return this.#ofCommand(record.command.value) ?? (record.kind === 'command' ? OTHER : this.#of(record.from));
      default:
        return OTHER;
    }
  }

  #ofCommand(value: object): Whose | undefined {
    return 'effect' in value ? this.#effects.get(String(value.effect)) : undefined;
  }

  #of(at: readonly [string, string, ...unknown[]] | null): Whose {
    if (at === null) return OTHER;
    return { side: this.#sides.get(nameOf(at)) ?? 'other', cell: [at[0], at[1]] };
  }

  /** Notes links, and the links inside linked values; missing content has no links. */
  async #follow<T>(links: readonly Ref[], into: Map<string, T>, note: (ref: Ref) => T): Promise<void> {
    const open = [...links];
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const name = `${ref.kind} ${ref.hex}`;
      if (into.has(name)) continue;
      into.set(name, note(ref));
      const bytes = ref.kind === 'value' ? await this.content.get(ref) : undefined;
      if (bytes !== undefined) open.push(...(linksIn(bytes) ?? []));
    }
  }
}

const OTHER: Whose = { side: 'other', cell: undefined };

function nameOf([reducer, key]: readonly [string, string, ...unknown[]]): string {
  return `${reducer}\0${key}`;
}
