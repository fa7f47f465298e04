/**
 * Mode `crash`: a process dies around each append and at each start of something outside; the next one opens what is
 * left, is asked the same, and comes to the same end.
 *
 * Invariants checked of each case and each blow
 * C1  The run ends as its scenario says; so does what it said and what commands were answered, except where the scenario
 *     says what a crash makes of that.
 * C2  Every head that a process was acknowledged is in the journal, in order.
 * C3  Nothing that may happen once was performed twice, counted outside the processes.
 * C4  What may happen once, and was begun and not settled when a process died, is `outcome_unknown`: the kernel says so of
 *     that, and of nothing else.
 * C5  Each effect is settled at most once, and none is open that is not open in a run without a crash.
 * C6  Each request is in order by the rules of its protocol: no call without its result, no result without its call.
 * C7  The journal is performed again, and every frame is the same in bytes.
 * C8  Where nobody needs to be told of an unknown outcome, the run's events are those of a run without a crash.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { agentApp } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore } from '@reprise/kernel';
import type { ModelClient } from '@reprise/providers';
import { VirtualClock } from '@reprise/testkit';
import type { Tool } from 'reprise';
import { settingOf, wireOf } from '../scenarios/perform.js';
import { type Played, play } from '../scenarios/play.js';
import type { TapePlayer } from '../scenarios/tape-player.js';
import type { Case } from './cases.js';
import { type Blow, Mortal, wordsOf } from './mortal.js';

/** What may be broken in a world, to see that it is found. */
export interface Broken {
  readonly mortal?: Mortal;
  readonly wrapTool?: (tool: Tool) => Tool;
  readonly wire?: (wire: TapePlayer) => TapePlayer;
}

/** What became of a case that was struck. */
interface Survivor extends Played {
  readonly mortal: Mortal;
  readonly wire: TapePlayer;
  /** Effects that may happen once, and were begun and not settled when a process died. */
  readonly interrupted: ReadonlySet<string>;
  readonly open: number;
}

/** Every blow that can fall on a case, in the order in which a process comes to them. */
export async function blowsOf(one: Case): Promise<Blow[]> {
  const { appends, dispatches } = await undisturbed(one);
  const each = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
  const sides = ['before', 'after'] as const;
  return [
    ...each(appends).flatMap((n) => sides.map((side): Blow => ({ step: 'append', n, side }))),
    ...each(dispatches).map((n): Blow => ({ step: 'dispatch', n })),
  ];
}

interface Undisturbed {
  readonly appends: number;
  readonly dispatches: number;
  readonly open: number;
  readonly text: string;
}

const known = new Map<Case, Promise<Undisturbed>>();

/** What a case is without a blow, in the hands that strike it. */
function undisturbed(one: Case): Promise<Undisturbed> {
  const found = known.get(one) ?? measure(one);
  known.set(one, found);
  return found;
}

async function measure(one: Case): Promise<Undisturbed> {
  const mortal = new Mortal();
  const process = mortal.process();
  const wire = wireOf(one.scenario, one.profile, { exactly: true });
  let open = 0;
  const { outcome } = await live(one, { process, wire, life: 0, clock: new VirtualClock() }, {}, (count) => {
    open = count;
  });
  return { appends: process.appends, dispatches: process.dispatches, open, text: outcome.text };
}

/** Strikes a case with blows, one process after the other, and holds what comes of it to what was promised. */
export async function survive(one: Case, blows: readonly Blow[], broken: Broken = {}): Promise<void> {
  const survivor = await struck(one, blows, broken);
  try {
    await hold(one, survivor, await undisturbed(one));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${one.title}, killed ${blows.map(wordsOf).join(', then ')}: ${words}`, { cause: error });
  }
}

async function struck(one: Case, blows: readonly Blow[], broken: Broken): Promise<Survivor> {
  const mortal = broken.mortal ?? new Mortal();
  const played = wireOf(one.scenario, one.profile, { exactly: false });
  const wire = broken.wire?.(played) ?? played;
  const interrupted = new Set<string>();
  let clock = new VirtualClock();
  for (const [life, blow] of blows.entries()) {
    const process = mortal.process(blow);
    const living = live(one, { process, wire, life, clock }, broken).then(() => 'ended' as const);
    living.catch(() => undefined);
    const end = await Promise.race([process.death, living.catch(() => process.death)]);
    // Whoever goes on after a death may have less to do than comes to the next blow.
    assert.ok(end !== 'ended' || life > 0, `${one.title}: nothing was killed ${wordsOf(blow)}`);
    for (const effect of await begunOnce(mortal)) interrupted.add(effect);
    clock = new VirtualClock({ wall: clock.wall() });
    wire.reconnect();
  }
  const process = mortal.process();
  let open = 0;
  const life = blows.length;
  const ended = await live(one, { process, wire, life, clock }, broken, (count) => {
    open = count;
  });
  return { ...ended, mortal, wire, interrupted, open };
}

interface Life {
  readonly process: ReturnType<Mortal['process']>;
  readonly wire: TapePlayer;
  readonly life: number;
  readonly clock: VirtualClock;
}

function live(
  { scenario, profile }: Case,
  { process, wire, life, clock }: Life,
  { wrapTool = (tool) => tool }: Broken,
  look: (open: number) => void = () => undefined,
): Promise<Played> {
  const setting = settingOf(scenario, profile, wire, life);
  const client: ModelClient = process.client(setting.client);
  const tools = (tool: Tool): Tool => wrapTool(process.tool(tool));
  return play(scenario, { ...setting, client, store: process.store, clock, wrapTool: tools }, async ({ kernel }) => {
    look((await kernel.openEffects()).length);
  });
}

/** What may happen once, was begun and is neither settled nor handed on. */
async function begunOnce(mortal: Mortal): Promise<string[]> {
  const frames = await framesOf(mortal);
  const settled = settlementsOf(frames);
  const records = frames.flat();
  const begun = effectsOf(records, 'attempt');
  const handedOn = effectsOf(records, 'deferred');
  const isOpen = (effect: string) => begun.has(effect) && !settled.has(effect) && !handedOn.has(effect);
  return records.flatMap((record) =>
    record.kind === 'effect' && record.delivery === 'at_most_once' && isOpen(record.effect) ? [record.effect] : [],
  );
}

function effectsOf(records: readonly JournalRecord[], kind: 'attempt' | 'deferred'): ReadonlySet<string> {
  return new Set(records.flatMap((record) => (record.kind === kind ? [record.effect] : [])));
}

async function framesOf({ store }: Mortal): Promise<readonly (readonly JournalRecord[])[]> {
  const reader = await store.openReadonly();
  const frames: JournalRecord[][] = [];
  for await (const { bytes, seq } of reader.journal.read(0)) frames.push([...readFrame(bytes, seq).all]);
  return frames;
}

async function hold({ scenario }: Case, survivor: Survivor, without: Undisturbed): Promise<void> {
  const { ends, afterCrash } = scenario;
  const { outcome, told, events, mortal, wire, interrupted, open } = survivor;
  const settled = settlementsOf(await framesOf(mortal));
  const unknown = [...settled].filter(([, how]) => how === UNKNOWN).map(([effect]) => effect);

  assert.deepEqual(outcome.stop, ends.stop, 'C1');
  holdOneOf(outcome.text, [without.text, ...(afterCrash?.texts ?? [])]);
  holdOneOf(told, [ends.told ?? [], ...(afterCrash?.told ?? [])]);
  await holdHeads(mortal);
  for (const [effect, times] of mortal.performed) assert.equal(times, 1, `C3: ${effect} was performed ${times} times`);
  assert.deepEqual(new Set(unknown), interrupted, 'C4');
  assert.equal(open, without.open, 'C5');
  assert.deepEqual(wire.problems, [], 'C6');
  const verified = await verifyStore(await mortal.store.openReadonly(), { app: agentApp });
  assert.equal(verified.performed, verified.frames, 'C7');
  const types = events.map(({ type }) => type);
  if (unknown.length === 0 && afterCrash?.eventsOtherwise !== true) assert.deepEqual(types, ends.events, 'C8');
}

/** C1 */
function holdOneOf<T>(actual: T, right: readonly [T, ...T[]]): void {
  if (!right.some((one) => isDeepStrictEqual(actual, one))) assert.deepEqual(actual, right[0], 'C1');
}

/** C2 */
async function holdHeads({ store, acknowledged }: Mortal): Promise<void> {
  const reader = await store.openReadonly();
  const heads: string[] = [];
  for await (const { head } of reader.journal.read(0)) heads.push(head);
  const found = acknowledged.map((head) => heads.indexOf(head));
  assert.ok(!found.includes(-1), `C2: an acknowledged head is not in the journal: ${acknowledged[found.indexOf(-1)]}`);
  assert.deepEqual(
    found,
    found.toSorted((a, b) => a - b),
    'C2: acknowledged heads are out of order',
  );
}

/** How the kernel settles what may have happened. */
const UNKNOWN = 'outcome_unknown by kernel';

/** C5: effect → how it was settled. What is `late` settles nothing. */
function settlementsOf(frames: readonly (readonly JournalRecord[])[]): ReadonlyMap<string, string> {
  const settlements = new Map<string, string>();
  for (const records of frames) {
    const late = new Set(records.flatMap((record) => (record.kind === 'late' ? [record.effect] : [])));
    for (const record of records) {
      const how = settlementOf(record);
      if (how === undefined || late.has(how[0])) continue;
      assert.ok(!settlements.has(how[0]), `C5: ${how[0]} was settled twice`);
      settlements.set(...how);
    }
  }
  return settlements;
}

function settlementOf(record: JournalRecord): [effect: string, how: string] | undefined {
  if (record.kind === 'settled') return [record.effect, record.status];
  if (record.kind !== 'receipt') return undefined;
  return [record.effect, `${record.receipt.status} by ${record.receipt.adapter}`];
}
