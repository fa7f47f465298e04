/** Plays random histories, closes each at its end, and has an oracle look for what ended never, or twice. */
import type { Address, JournalRecord } from '@reprise/contracts';
import type { App } from '@reprise/kernel/define';
import fc from 'fast-check';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { AgentEvents } from '../../src/index.js';
import type { Frame } from '../histories/bare-world.js';
import { anyHistory, type History } from '../histories/happenings.js';
import { type Played, playHistory } from '../histories/play-history.js';
import { Transcripts } from '../histories/transcripts.js';
import { EndsOracle } from './ends-oracle.js';

/** A history, and what is added to it. */
export interface EndedHistory {
  readonly history: History;
  readonly toolset: boolean;
  /** The happenings before which a running tool asks a person; null where the auditor watches as well. */
  readonly asks: readonly number[] | null;
}

/** Any history with people and toolsets in it. */
export const anyEndedHistory: fc.Arbitrary<EndedHistory> = fc.record({
  history: anyHistory,
  toolset: fc.constantFrom(false, false, true),
  asks: fc.option(fc.uniqueArray(fc.nat(60), { maxLength: 20 }), { nil: null }),
});

/** What a history came to. */
export interface Ended extends Played {
  /** How many of each kind were accepted, and how they ended. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Plays a history to its end. @throws Error when something that was accepted has no end, or two */
export async function playToEnd({ history, toolset, asks }: EndedHistory, app?: App): Promise<Ended> {
  const oracle = new EndsOracle();
  const asked = new Asked(oracle);
  const events = new AgentEvents();
  const transcripts = new Transcripts();
  const onFrame = (frame: Frame): void => {
    for (const record of frame.records) asked.read(record);
    for (const event of events.project(frame)) oracle.read(event);
    for (const [key, items] of transcripts.read(frame)) oracle.said(key, items);
  };
  const added = { ...(toolset ? { toolset } : {}), ...(asks === null ? {} : { asks }) };
  const played = await playHistory(history, false, {
    onFrame,
    closes: true,
    ...added,
    ...(app === undefined ? {} : { app }),
  });
  oracle.over();
  return { ...played, counts: oracle.counts };
}

/** Tells the oracle what is asked of sessions, by hosts and by the sessions above them, and what of it did not arrive. */
class Asked {
  /** What the sessions above asked, by session and event: of one that is not there nothing is answered. */
  readonly #from = new Map<string, (readonly [session: string, what: string, command_id: string])[]>();

  constructor(private readonly oracle: EndsOracle) {}

  read(record: JournalRecord): void {
    if (record.kind !== 'request' && record.kind !== 'event') return;
    const { name, value } = record.event;
    if (name === 'sys/Undeliverable@1') return this.#notDelivered(value as unknown as { to: Address; event: string });
    const [reducer, session] = record.to;
    const { command_id, command } = value as unknown as { command_id: string; command: { type: string } };
    const what = name === 'aos.agent/UserInput@1' ? 'Input' : name === HOST_COMMAND ? command.type : undefined;
    if (reducer !== SESSION_REDUCER || what === undefined) return;
    this.oracle.asked(session, what, command_id);
    const key = `${session} ${name}`;
    if (record.kind === 'event') this.#from.set(key, [...(this.#from.get(key) ?? []), [session, what, command_id]]);
  }

  #notDelivered({ to, event }: { readonly to: Address; readonly event: string }): void {
    const first = this.#from.get(`${to[1]} ${event}`)?.shift();
    if (first !== undefined) this.oracle.notDelivered(...first);
  }
}

const HOST_COMMAND = 'aos.agent/HostCommand@1';
