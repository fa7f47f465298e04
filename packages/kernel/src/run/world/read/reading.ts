/** Reads an open world. Everything is read between commits, when the state in memory is durable. */
import type { Account, Address, JournalRecord, Principal, Value } from '@reprise/contracts';
import { damaged, readFrame } from '../../../ports/journal/frame.js';
import type { ReadableJournal } from '../../../ports/journal/port.js';
import {
  requireAddress,
  requireLeafName,
  requirePosition,
  requirePrincipal,
} from '../../../pure/arguments/arguments.js';
import { type Hash, portableSha256 } from '../../../pure/codec/index.js';
import { addressOf, cellAddress, type TableRange } from '../../../pure/define/index.js';
import { type EffectLeaf, holderIn, logKey } from '../../../pure/engine/index.js';
import { readCellTable, readKeptLog, readState } from '../../../replay/verify/era/read-leaves.js';
import { type HolderRights, readAuthority } from '../../../state/holder-rights.js';
import { cellFailed, failedCellsIn, failureAmong, type Trouble } from '../../../state/trouble.js';
import type { CallerWait, WaitsFor } from '../../callers/callers.js';
import { type Decider, readItem } from '../ask/asking.js';
import { effectLeaves } from '../ask/effect-leaves.js';
import { type DecidedItem, openItems, type PendingItem, questionOf } from '../ask/open-items.js';
import { requireAccountName } from '../ask/requests.js';
import type { WorldParts } from '../parts.js';
import { answerable, decider, maySend, readAccount, requireReader } from './authority.js';
import { readableFrames } from './readable-frames.js';
import { RECENT_FRAMES, type ReadFrame } from './recent-frames.js';
import type { ViewParts } from './view.js';

/** A durable frame, as a watcher sees it. */
export interface WorldFrame {
  readonly seq: number;
  readonly at: number;
  readonly head: string;
  readonly records: readonly JournalRecord[];
}

/** An effect that has no receipt yet. */
export interface OpenEffect {
  readonly effect: string;
  readonly name: string;
  readonly cell: Address;
  readonly delivery: EffectLeaf['guarantee'];
  /** 0 while it waits to be started. */
  readonly attempt: number;
  readonly deadline: number | null;
}

/** A cell whose end is awaited, with what it waits for itself: an effect that waits for its own cell would wait for ever. */
export interface AwaitedCell {
  readonly cell: Address;
  /** Whether it cannot end before an open effect of another cell, or of itself, has ended. */
  readonly waitsFor?: WaitsFor;
}

/** A wait of the effect whose code reads the frames. */
interface OwnWait {
  readonly wait: CallerWait;
  readonly cell: Address;
}

export type ReadingParts = Pick<
  WorldParts,
  'app' | 'store' | 'table' | 'stepper' | 'stamper' | 'operator' | 'watchers' | 'recent' | 'callers'
>;

/** Reads an open world; the promises of the methods are documented at those of the world. */
export class Reading {
  constructor(private readonly parts: ReadingParts) {}

  state(address: Address): Promise<Value | undefined> {
    const { app, stepper, table } = this.parts;
    return stepper.exclusively(() => readState(app, table, address));
  }

  /** The items of a cell's log. */
  async *log(address: Address, name: string, from: number): AsyncGenerator<Value> {
    requireAddress(address);
    requireLeafName(name, 'log');
    requirePosition(from, 'the index of an item');
    const { app, store, stepper, table } = this.parts;
    // The leaf is read between commits, its chunks at any time: they are durable and never change.
    const leaf = await stepper.exclusively(() => table.read(logKey(cellAddress(app, address), name)));
    if (leaf !== undefined) yield* readKeptLog(store.content, leaf, from);
  }

  /** Entries of a cell's table. */
  table(address: Address, name: string, range: TableRange | undefined): Promise<[key: string, value: Value][]> {
    const { app, stepper, table } = this.parts;
    return stepper.exclusively(async () => {
      requireAddress(address);
      return readCellTable(table, cellAddress(app, address), name, range);
    });
  }

  openEffects(): Promise<OpenEffect[]> {
    const { stepper, table } = this.parts;
    return stepper.exclusively(async () => {
      const unsettled = effectLeaves(table).filter(({ leaf }) => leaf.late === undefined);
      return unsettled.map(({ effect, leaf }) => ({
        effect,
        name: leaf.name,
        cell: [leaf.plan[0], leaf.plan[1]],
        delivery: leaf.guarantee,
        attempt: leaf.attempt,
        deadline: leaf.deadline,
      }));
    });
  }

  openItems(): Promise<readonly PendingItem[]> {
    const { stepper, store, table } = this.parts;
    const hash: Hash = store.hash ?? portableSha256;
    return stepper.exclusively(async () => openItems(table, hash));
  }

  /** Who decided about an item that does not wait any more, for a principal that could have decided. */
  async decidedBy(item: DecidedItem, who: Principal): Promise<Decider | undefined> {
    const { id, kind } = readItem(item);
    const { stepper, stamper, table } = this.parts;
    return stepper.exclusively(() =>
      decider(table, questionOf(id) ?? { effect: id, approval: kind === 'approval' }, who, stamper.now()),
    );
  }

  /** What needs attention: the world and its store first, then the clock, the services outside and the cells. */
  async trouble(): Promise<readonly Trouble[]> {
    const { stepper, table, operator } = this.parts;
    const { closedBy } = stepper;
    if (closedBy !== undefined && closedBy.code !== 'world_closed') return operator.hostTroubles;
    // A store that does not answer holds up everything else that is asked: what is known without it is said.
    const cells = await operator.storeWatch.unlessSlow(stepper.exclusively(async () => failedCellsIn(table)));
    return [...operator.hostTroubles, ...(cells ?? [])];
  }

  /** The rights of a holder. */
  async rights(holder: Principal): Promise<HolderRights> {
    requirePrincipal(holder, 'holder');
    const { app, stepper, table } = this.parts;
    return stepper.exclusively(() => readAuthority(table, holderIn(app, holder)));
  }

  async account(name: string): Promise<Account | undefined> {
    requireAccountName(name);
    const { stepper, table } = this.parts;
    return stepper.exclusively(() => readAccount(table, name));
  }

  /** The cells that a principal may read, and the items that it may answer. */
  gateOf(principal: Principal): ViewParts {
    requirePrincipal(principal, 'principal');
    const { app, stepper, table, stamper } = this.parts;
    const who = holderIn(app, principal);
    return {
      requireReader: async (given) => {
        const cell = addressOf(app, given);
        requireAddress(cell);
        // By its permanent name: a rule about a cell holds under every name of it.
        await stepper.exclusively(() => requireReader(table, who, cellAddress(app, cell), stamper.now()));
      },
      maySend: async (given, event) => {
        requireAddress(given);
        const to = cellAddress(app, given);
        return stepper.exclusively(() => maySend(table, who, { to, event, at: stamper.now() }));
      },
      decidedBy: (item) => this.decidedBy(item, who),
      answerable: (items) => stepper.exclusively(() => answerable(table, who, items, stamper.now())),
      frames: (from, signal) => readableFrames(this.parts, who, this.frames(from, signal), { from, signal }),
    };
  }

  /**
   * Durable frames, future ones included. Each is read from its bytes: a watcher sees what a reader of the file sees.
   * Watchers share what is read of the newest ones.
   *
   * @param awaited cells whose failure ends the wait for the next frame, and what they wait for themselves
   */
  async *frames(
    from: number,
    signal: AbortSignal | undefined,
    awaited: readonly (Address | AwaitedCell)[] = [],
  ): AsyncGenerator<WorldFrame> {
    requirePosition(from, 'the number of a frame');
    const all = awaited.map(asAwaited);
    for (const { cell } of all) requireAddress(cell);
    const cells = all.map(({ cell }) => cellAddress(this.parts.app, cell));
    const waits = this.#waitsOf(all);
    const { stepper, recent } = this.parts;
    let next = from;
    try {
      for (;;) {
        const upTo = stepper.head.seq;
        if (next <= upTo && upTo - next < RECENT_FRAMES) yield recent.at(next++);
        else if (next <= upTo) {
          for await (const frame of this.#olderFrames(next, upTo)) {
            next = frame.seq + 1;
            yield frame;
          }
        } else if (stepper.closedBy?.code === 'fenced')
          throw stepper.closedBy; // what follows is another process's
        else if (stepper.closedBy !== undefined || signal?.aborted) return;
        else await this.#next(upTo, signal, { cells, waits });
      }
    } finally {
      for (const { wait } of waits) wait.end();
    }
  }

  async *#olderFrames(from: number, upTo: number): AsyncGenerator<WorldFrame> {
    for await (const { seq, at, head, bytes } of this.parts.store.journal.read(from, upTo))
      yield { seq, at, head, records: readFrame(bytes, seq).all };
  }

  /** Waits until there may be a frame behind the last one. @throws RepriseError `cell_failed`, and what refuses the waits */
  async #next(
    upTo: number,
    signal: AbortSignal | undefined,
    { cells, waits }: { readonly cells: readonly Address[]; readonly waits: readonly OwnWait[] },
  ): Promise<void> {
    const { stepper, watchers, table } = this.parts;
    if (failureAmong(table, cells) !== undefined && (await this.#isOvertaken(cells, upTo))) return;
    for (const { wait, cell } of waits) await wait.requirePossible(cell);
    await watchers.next(() => stepper.head.seq > upTo || stepper.closedBy !== undefined, signal);
  }

  /** The waits of the effect whose code asks for the frames. */
  #waitsOf(awaited: readonly AwaitedCell[]): readonly OwnWait[] {
    return awaited.flatMap(({ cell, waitsFor }) => {
      const wait = waitsFor === undefined ? undefined : this.parts.callers.wait(waitsFor);
      return wait === undefined ? [] : [{ wait, cell }];
    });
  }

  /**
   * Looks for a failed cell among those that are awaited, once all durable frames are read. The leaves in memory may be
   * ahead of the journal: only what stands between commits counts.
   *
   * @returns whether more frames have become durable meanwhile
   * @throws RepriseError `cell_failed`
   */
  async #isOvertaken(cells: readonly Address[], upTo: number): Promise<boolean> {
    const { stepper, table } = this.parts;
    const found = await stepper.exclusively(async () => failureAmong(table, cells)).catch(() => undefined);
    if (stepper.head.seq > upTo || stepper.closedBy !== undefined) return true;
    if (found !== undefined) throw cellFailed(found);
    return false;
  }
}

/** Reads durable frames from their bytes, one at a time. */
export function frameReader(journal: ReadableJournal): (seq: number) => Promise<ReadFrame> {
  return async (seq) => {
    for await (const { at, head, bytes } of journal.read(seq, seq))
      return { frame: { seq, at, head, records: readFrame(bytes, seq).all }, length: bytes.length };
    throw damaged(seq, 'the store does not have it');
  };
}

function asAwaited(one: Address | AwaitedCell): AwaitedCell {
  return typeof one === 'object' && one !== null && 'cell' in one ? one : { cell: one };
}
