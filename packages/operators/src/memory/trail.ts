/** What a journal says of some items: which frame wrote them, by which act, what became of them, and who judged them. */
import type { JournalRecord, Ref, Value } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import type { ItemOrigin, Linked } from '@reprise/org/contracts';
import { REDUCERS } from '../names/reducers.js';
import { skimFrames, textsIn } from '../skim/index.js';
import { type FramePlace, HOLDING_VERDICTS, type StatedVerdict, verdictsIn } from '../verdicts/index.js';
import { actOf, type StatedAct } from './causes.js';
import { itemName } from './items.js';
import { ANSWERING, SwarmAnswers } from './swarms.js';

/** An act, and the frame that holds it. */
export interface PlacedAct extends StatedAct {
  readonly frame: number;
}

/** What the journal says of an item. */
export interface ItemTrail {
  /** The first frame that states it, and the last one that states a change. */
  written?: FramePlace;
  changed?: FramePlace;
  act?: PlacedAct;
  replaced?: string;
  copy_of?: string;
  readonly verdicts: (StatedVerdict & FramePlace)[];
  /** The swarms without an answer when it was written. */
  unanswered: ReturnType<SwarmAnswers['unanswered']>;
}

/** Where a place of an organization comes from, as it stated last. */
interface StatedPlace extends Pick<Linked, 'title' | 'from'> {
  readonly text_ref: Ref | null;
  readonly frame: number;
  readonly act: PlacedAct | undefined;
}

type Fact = Extract<JournalRecord, { readonly kind: 'fact' }>;
type Fields = Readonly<Record<string, Value>>;

/** What the bytes of each frame hold that says something of an item, of a place that it comes from, or of an answer of a swarm. */
const HOLDING = textsIn([
  ...['memory/Linked@1', 'memory/Written@1', 'society/Shared@1', 'society/Merged@1'],
  ...HOLDING_VERDICTS,
  ...ANSWERING,
]);

/** Collects what frames say of items. Memory is bounded by the items that are meant, and by the places of organizations. */
export class MemoryTrail {
  readonly items = new Map<string, ItemTrail>();
  readonly #places = new Map<string, StatedPlace>();
  readonly #erased = new Map<string, FramePlace>();
  readonly #swarms = new SwarmAnswers();

  /** @param names of the items that are meant @param contents the digests of their words */
  constructor(
    names: readonly string[],
    private readonly contents: ReadonlySet<string>,
  ) {
    for (const name of names) this.items.set(name, { verdicts: [], unanswered: [] });
  }

  /** Reads a journal up to a frame. */
  async read(store: ReadonlyStore, last: number, signal: AbortSignal | undefined): Promise<void> {
    const range = { from: 0, to: last, holding: HOLDING, kinds: ['erase'], signal };
    await skimFrames(store, range, (frame, at, records) => this.#take(records, { frame, at }));
  }

  /** A place of an organization, as it was stated last. */
  placeOf({ cell }: Pick<ItemOrigin, 'cell'>, kind: string, id: number): StatedPlace | undefined {
    return this.#places.get(placeKey(cell, kind, id));
  }

  /** The frame that erased content; null for content that was not. */
  erasedAt(ref: Ref): FramePlace | null {
    return this.#erased.get(ref.hex) ?? null;
  }

  #take(all: readonly JournalRecord[], place: FramePlace): void {
    for (const [i, record] of all.entries()) {
      this.#swarms.take(record);
      if (record.kind === 'fact') this.#fact(record, i, all, place);
      else if (record.kind === 'erase')
        for (const digest of record.digests) if (this.contents.has(digest)) this.#erased.set(digest, place);
    }
    for (const verdict of verdictsIn(all)) this.items.get(verdict.item)?.verdicts.push({ ...verdict, ...place });
  }

  #fact(fact: Fact, i: number, all: readonly JournalRecord[], place: FramePlace): void {
    const value = fact.value as Fields;
    if (fact.name === 'memory/Linked@1' && fact.from !== null) this.#linked(fact, i, all, place);
    if (fact.name === 'memory/Written@1' && fact.from?.[0] === REDUCERS.store) this.#written(fact, i, all, place);
    if (fact.name === 'society/Shared@1' || fact.name === 'society/Merged@1') {
      const copy = this.items.get(String(value.copy_id));
      if (copy !== undefined) copy.copy_of = String(value.item_id);
    }
  }

  #linked({ from, value }: Fact, i: number, all: readonly JournalRecord[], { frame }: FramePlace): void {
    const { kind, id, title, from: sources, text_ref = null } = value as unknown as Linked;
    const act = actOf(all, i);
    this.#places.set(placeKey(`${from?.[0]}/${from?.[1]}`, kind, id), {
      ...{ title, from: sources, text_ref, frame },
      act: act === undefined ? undefined : { ...act, frame },
    });
  }

  #written(fact: Fact, i: number, all: readonly JournalRecord[], place: FramePlace): void {
    const { id, state } = fact.value as { readonly id: number; readonly state: string };
    const store = String(fact.from?.[1]);
    const item = this.items.get(itemName(store, id));
    if (item === undefined) return;
    if (item.written === undefined) {
      const act = actOf(all, i);
      item.written = place;
      item.unanswered = this.#swarms.unanswered();
      if (act !== undefined) item.act = { ...act, frame: place.frame };
    } else item.changed = place;
    const next = state === 'superseded' ? replacementIn(all, i) : undefined;
    if (next !== undefined) item.replaced = itemName(store, next);
  }
}

/** The item that takes the place of another one: its store states it in the same delivery, before the change of the other. */
function replacementIn(all: readonly JournalRecord[], i: number): number | undefined {
  const change = all[i] as Fact;
  const added = all.slice(0, i).findLast((one) => {
    return one.kind === 'fact' && one.name === change.name && one.c === change.c && one.from?.[1] === change.from?.[1];
  });
  return added === undefined ? undefined : Number(((added as Fact).value as Fields).id);
}

function placeKey(cell: string, kind: string, id: number): string {
  return `${cell} ${kind} ${id}`;
}
