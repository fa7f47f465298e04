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
  readonly shared: readonly Ref[];
}

/** A search through the journal, which can be continued when the journal has grown. */
export class CellContent {
  readonly #own = new Map<string, Ref>();
  readonly #others = new Map<string, Ref>();
  readonly #cells: ReadonlySet<string>;
  readonly #effects = new Set<string>();
  #next = 0;

  constructor(
    private readonly journal: ReadableJournal,
    private readonly content: ContentReader,
    cells: readonly Address[],
  ) {
    this.#cells = new Set(cells.map(nameOf));
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
    const others = new Set([...this.#others.values()].map(({ hex }) => hex));
    const all = [...new Map([...this.#own.values()].map((ref) => [ref.hex, ref])).values()];
    return { own: all.filter(({ hex }) => !others.has(hex)), shared: all.filter(({ hex }) => others.has(hex)) };
  }

  async #take(record: JournalRecord): Promise<void> {
    // The map and the digests of state belong to the world itself; what they contain came in by other records.
    if (record.kind === 'snapshot' || record.kind === 'state') return;
    const own = this.#isOwn(record);
    if (own && record.kind === 'effect') this.#effects.add(record.effect);
    await this.#follow(linksOf(record as unknown as Value), own ? this.#own : this.#others);
  }

  #isOwn(record: JournalRecord): boolean {
    switch (record.kind) {
      case 'request':
      case 'event':
        return this.#cells.has(nameOf(record.to));
      case 'intent':
      case 'effect':
        return this.#cells.has(nameOf(record.plan));
      case 'fact':
        return record.from !== null && this.#cells.has(nameOf(record.from));
      case 'receipt':
      case 'ask':
        return this.#effects.has(record.effect);
      case 'command':
        return 'effect' in record.command.value && this.#effects.has(record.command.value.effect);
      default:
        return false;
    }
  }

  /** Notes links, and the links inside linked values; missing content has no links. */
  async #follow(links: readonly Ref[], into: Map<string, Ref>): Promise<void> {
    const open = [...links];
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const name = `${ref.kind} ${ref.hex}`;
      if (into.has(name)) continue;
      into.set(name, ref);
      const bytes = ref.kind === 'value' ? await this.content.get(ref) : undefined;
      if (bytes !== undefined) open.push(...(linksIn(bytes) ?? []));
    }
  }
}

function nameOf([reducer, key]: readonly [string, string, ...unknown[]]): string {
  return `${reducer}\0${key}`;
}
