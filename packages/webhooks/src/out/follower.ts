/**
 * Tells outboxes what happens in their world: it reads durable frames, and sends each outbox the notices that its receiver wants.
 *
 * Invariants
 * F1  Each outbox is told from the place up to which it has taken notices in, which stands in its own state: a process that dies
 *     leaves out nothing, and what is sent again counts once (outbox/O1).
 * F2  An outbox that has failed, or faults, keeps back no other one. When it was revived, or by the next process, it is told what
 *     it has missed.
 * F3  No failure here reaches the world: the world's owner sees failed cells among its troubles, and the rest is tried again.
 */
import type { AgentWorld } from '@reprise/agent';
import { type Address, isRepriseError, type JournalRecord } from '@reprise/contracts';
import type { WorldFrame } from '@reprise/kernel';
import { clockOf } from '@reprise/kernel/world';
import { NOTICES_MAX, type Notice, OUTBOX, type OutboxState } from '../pure/index.js';
import { Notices, TOPIC_OF } from './due.js';
import type { NoticedSession, Receiver } from './receivers.js';

/** An outbox is told of so many frames without a notice at once, so that a process that opens the world reads no more again. */
const LOOK_FRAMES = 1_024;

/** The first and the longest pause before another try when an outbox could not be told, in milliseconds. */
const PAUSE_MS = { first: 1_000, max: 60_000 } as const;

/** The outbox of one receiver, as it is told. */
interface Told {
  readonly receiver: Receiver;
  readonly address: Address;
  /** The frame up to which it has been told. */
  seq: number;
  gone: boolean;
  /** Whether its cell has failed. */
  failed: boolean;
}

/** The parts of a world that following needs. */
type Followed = Pick<AgentWorld, 'kernel'>;

/** Follows one open world, for all outboxes that its receivers have. */
export class Follower {
  readonly #stop = new AbortController();
  #reading: Promise<void> | undefined;

  constructor(
    private readonly world: Followed,
    private readonly receivers: readonly Receiver[],
  ) {}

  /** Makes the outboxes that are not there yet, and follows from where each of them is. */
  async start(): Promise<void> {
    const { created, head } = this.world.kernel;
    const looked = created ? 0 : head.seq + 1;
    for (const { name } of this.receivers) {
      const address: Address = [OUTBOX, name];
      if ((await this.world.kernel.state(address)) === undefined)
        await this.#send(address, 'webhooks/Open@1', { looked });
    }
    this.#reading = this.#follow();
  }

  /** Stops; what was not told is told by the next process (F1). */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    for (let pause: number = PAUSE_MS.first; !signal.aborted; ) {
      try {
        await this.#read();
        pause = PAUSE_MS.first;
      } catch {
        if (this.world.kernel.closedBy !== undefined) return;
        await clockOf(this.world.kernel).sleep(pause, signal); // F3
        pause = Math.min(pause * 2, PAUSE_MS.max);
      }
    }
  }

  /** Reads to the end of the world, or until an outbox was revived. */
  async #read(): Promise<void> {
    const { kernel } = this.world;
    const told = await Promise.all(this.receivers.map((one) => this.#told(one)));
    const from = Math.min(...told.map(({ seq }) => seq));
    const notices = new Notices(kernel.id, await kernel.openEffects());
    for await (const frame of kernel.frames(from, this.#stop.signal)) {
      const found = notices.in(frame);
      if (told.some((one) => one.failed && isTo(frame, one.address))) return; // F2
      await Promise.all(told.map((one) => this.#tell(one, frame, found)));
    }
  }

  async #told(receiver: Receiver): Promise<Told> {
    const address: Address = [OUTBOX, receiver.name];
    const state = (await this.world.kernel.state(address)) as OutboxState | undefined;
    return { receiver, address, seq: state?.looked[0] ?? 0, gone: state?.gone ?? false, failed: false };
  }

  async #tell(told: Told, frame: WorldFrame, found: readonly Notice[]): Promise<void> {
    if (told.failed || frame.seq < told.seq) return;
    told.gone = goneIn(frame.records, told);
    const wanted: Notice[] = [];
    for (const one of told.gone ? [] : found) if (await this.#wants(told.receiver, one)) wanted.push(one);
    try {
      await this.#bring(told, frame.seq, wanted);
    } catch (error) {
      if (!isRepriseError(error, 'cell_failed') && !isRepriseError(error, 'delivery_faulted')) throw error;
      told.failed = true; // F2
    }
  }

  async #bring(told: Told, seq: number, wanted: readonly Notice[]): Promise<void> {
    for (let i = 0; i < wanted.length; i += NOTICES_MAX) {
      const notices = wanted.slice(i, i + NOTICES_MAX);
      await this.#send(told.address, 'webhooks/Due@1', { seq, notices, last: i + NOTICES_MAX >= wanted.length });
    }
    const isFar = seq + 1 - told.seq >= LOOK_FRAMES;
    if (wanted.length === 0 && isFar) await this.#send(told.address, 'webhooks/Looked@1', { looked: seq + 1 });
    if (wanted.length > 0 || isFar) told.seq = seq + 1;
  }

  async #wants({ on, wants }: Receiver, { type, data }: Notice): Promise<boolean> {
    if (!on.includes(TOPIC_OF[type])) return false;
    const { session_id: session } = data;
    if (session === undefined) return true;
    const about: NoticedSession = { session, isOwned: await this.#isOwned(data.cell) };
    return wants === undefined ? !(type.startsWith('run.') && about.isOwned) : answerOf(wants, about);
  }

  /** A session that cannot be read, such as one whose migration fails, keeps back no notice of it and of others. */
  async #isOwned(session: readonly [string, string]): Promise<boolean> {
    const state = (await this.world.kernel.state([...session]).catch(() => undefined)) as
      | { readonly depth: number; readonly tell_owner: boolean | string }
      | undefined;
    return state !== undefined && (state.depth > 0 || state.tell_owner !== false);
  }

  /** Without an id: what comes twice is known by its place (outbox/O1). */
  async #send(to: Address, name: string, value: object): Promise<void> {
    await this.world.kernel.request(to, { name, value });
  }
}

/** A filter of the app that throws leaves nothing out. */
function answerOf(wants: (about: NoticedSession) => boolean, about: NoticedSession): boolean {
  try {
    return wants(about) === true;
  } catch {
    return true;
  }
}

function isTo({ records: [first] }: WorldFrame, [reducer, key]: Address): boolean {
  return first?.kind === 'request' && first.to[0] === reducer && first.to[1] === key;
}

const GONE: Readonly<Record<string, boolean>> = { 'webhooks/Gone@1': true, 'webhooks/Returned@1': false };

/** Whether a receiver is gone after a frame. */
function goneIn(records: readonly JournalRecord[], { gone, address: [reducer, key] }: Told): boolean {
  return records.reduce((before, record) => {
    if (record.kind !== 'fact' || record.from?.[0] !== reducer || record.from[1] !== key) return before;
    return GONE[record.name] ?? before;
  }, gone);
}
