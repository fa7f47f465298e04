/**
 * Takes rights back from three generations of agents while thousands of their effects hang: everything that is open below
 * ends before any other input, in frames that each keep the bounds, also when the process dies between two of them. A call
 * of an agent of the lowest generation, sent meanwhile, stands after the last end and is denied.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-revocation.ts
 *     [--effects 9000] [--by narrow,deactivate,expiry] [--calm] [--failed] [--mutant own-list] [--kill 12]
 *
 * One frame checks 4,096 effects, and frames with a megabyte of them are written at once: with more than 8,192 effects the
 * process can die between two frames of ends. With --calm no process dies. With --failed the cell of the topmost agent has
 * failed before, so that a hold takes its rights. With --mutant own-list calls are judged by what the
 * entity itself declares: the check of the denied call then fails. With --kill the rights of a failed agent are taken on a
 * SQLite file, by processes that are killed at each append up to that one, before it and after it.
 */
import { parseArgs } from 'node:util';
import { memory } from 'reprise';
import { readFrame } from 'reprise/kernel';
import type { Entity } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { DyingStore } from './dying-store.js';
import { failEntity } from './society/failing.js';
import { type Hung, hang, type Office, openOffice } from './society/revocation/office.js';
import { frameOfCall, type Statement, statementOf } from './society/revocation/statement.js';
import { killRevoking, WAYS as WAYS_TO_KILL } from './society/revoked/kill.js';

const WAYS = ['narrow', 'deactivate', 'expiry'] as const;
type Way = (typeof WAYS)[number];

const TTL_SECONDS = 20;
const FRAME_BYTES = 1024 * 1024;
const POLL = 'the call of an agent of the lowest generation';

/** What the call of an agent is answered with after each way of taking rights. */
const DENIALS: Readonly<Record<Way, string>> = {
  narrow: 'capability_denied tool',
  deactivate: 'agent_not_active',
  expiry: 'agent_not_active',
};

const { values: options } = parseArgs({
  options: {
    effects: { type: 'string', default: '9000' },
    by: { type: 'string', default: WAYS.join(',') },
    calm: { type: 'boolean', default: false },
    failed: { type: 'boolean', default: false },
    mutant: { type: 'string', default: '' },
    kill: { type: 'string' },
  },
});
if (options.kill !== undefined) {
  const sides = ['before', 'after'] as const;
  const taken = await killRevoking({ ways: WAYS_TO_KILL, appends: Number(options.kill), sides, told: console.log });
  console.log(`${taken.kills} kills, ${taken.ended} tools ended, ${taken.failures.length} trials wrong`);
  process.exit(taken.failures.length === 0 ? 0 : 1);
}
const ways = WAYS.filter((way) => options.by.split(',').includes(way));
let failures = ways.length === 0 ? 1 : 0;
for (const way of ways) failures += await takeBack(way, Number(options.effects));
process.exitCode = failures === 0 ? 0 : 1;

/** Hangs that many effects, takes the rights back, dies on the way, and goes on. @returns 1 when a promise was broken */
async function takeBack(way: Way, effects: number): Promise<number> {
  const store = new DyingStore(memory());
  const clock = new VirtualClock();
  const opening = { store, clock, ownList: options.mutant === 'own-list' };
  const first = await openOffice(opening);
  const ann = await first.office.human('ann');
  const hung = await hang(first, ann, { effects, ...(way === 'expiry' ? { ttl_seconds: TTL_SECONDS } : {}) });
  if (options.failed) await failEntity(first.world, hung.top);
  const before = first.world.kernel.head.seq;
  store.largest = 0;
  const ends = firstEnds(store);
  const taken = act(way, ann, hung.top, clock).catch(ignored);
  const early = ends.then(() => pollOf(first, hung)).catch(ignored);
  const said = options.calm ? await early : undefined;
  await Promise.all([taken, early]);
  if (options.calm) await first.world.pump();
  else await first.world.close().catch(ignored);
  const at = options.calm ? first : await openOffice(opening);
  const denial = said ?? (await pollOf(at, hung));
  await at.world.pump();
  const found = { ...(await statementOf(at.world, before)), denial, poll: await frameOfCall(at.world, POLL) };
  await at.world.close();
  const isSplit = found.first <= store.diedAt && store.diedAt < found.last;
  return judge(way, { ...found, effects, isSplit, died: store.deaths, largest: store.largest });
}

interface Found extends Statement {
  readonly effects: number;
  /** Whether the process died when some of the ends were durable, and others not. */
  readonly isSplit: boolean;
  readonly died: number;
  readonly largest: number;
  readonly denial: string;
  readonly poll: number | undefined;
}

/** Prints what was found. @returns 1 when a promise was broken */
function judge(way: Way, found: Found): number {
  const { ended, effects, frames, died, largest, between, open, left, unverified, denial, poll, last } = found;
  const wrong = [
    [ended !== effects || left !== 0, 'not all effects ended'],
    [died !== (options.calm ? 0 : 1), 'the process died another number of times'],
    [!options.calm && !found.isSplit, 'the process did not die between two frames of ends: take more effects'],
    [largest > FRAME_BYTES, 'a frame is too large'],
    [between.length > 0, `inputs between: ${between.join(', ')}`],
    [open > 0, 'something is still open'],
    [unverified !== 0, 'not every frame was replayed'],
    [denial !== denialOf(way), `the call was answered with ${denial}, expected ${denialOf(way)}`],
    [poll === undefined || poll <= last, 'the call stands before the last end'],
  ].flatMap(([isWrong, why]) => (isWrong ? [why as string] : []));
  console.log(
    `${way}: ${ended} of ${effects} ended in ${frames} frames, the process died ${died} time(s)` +
      `${found.isSplit ? ' between two of them' : ''}, largest frame ${largest} bytes (≤ 1 MiB), inputs between ` +
      `${between.length}, a call sent meanwhile is in frame ${(poll ?? 0) - last} after the last end: ${denial}, ` +
      `still open ${open}, unverified ${unverified}`,
  );
  for (const why of wrong) console.error(`${way}: ${why}`);
  return wrong.length === 0 ? 0 : 1;
}

/** The agents below one that has failed are not told of its end: the gate alone denies their calls. */
function denialOf(way: Way): string {
  return options.failed && way === 'deactivate' ? DENIALS.narrow : DENIALS[way];
}

/** Resolves when the first ends are about to be durable; unless it is to be calm, the process dies just after that. */
function firstEnds(store: DyingStore): Promise<void> {
  return new Promise((resolve) => {
    store.dieAfter((frames) => {
      const isFirst = frames.some(hasEnds);
      if (isFirst) resolve();
      return isFirst && !options.calm;
    });
  });
}

/** Whether rights that were taken back ended effects in a frame. */
function hasEnds({ bytes, seq }: { readonly bytes: Uint8Array; readonly seq: number }): boolean {
  const { all } = readFrame(bytes, seq);
  return all.some((record) => record.kind === 'settled' && record.code?.startsWith('cap_denied') === true);
}

/** Takes the rights of the topmost agent back. */
async function act(way: Way, ann: Entity, top: string, clock: VirtualClock): Promise<unknown> {
  if (way === 'narrow') return ann.capabilities(top, { capabilities: { tools: [] } });
  if (way === 'deactivate') return ann.setStatus(top, 'deactivate');
  return clock.advance(TTL_SECONDS * 1_000);
}

/** A call of an agent of the lowest generation. @returns why it is refused */
async function pollOf({ office }: Office, { lowest }: Hung): Promise<string> {
  const { value, is_error } = await office.entity(lowest).answerTo('events_poll', {}, { id: POLL });
  if (!is_error) return 'an answer';
  const { error, code, detail } = value as {
    readonly error?: string;
    readonly code?: string;
    readonly detail?: string;
  };
  return [error ?? code, detail].filter((part) => part !== undefined).join(' ');
}

/** The process is dead, so nobody is answered. */
function ignored(): string {
  return 'no answer';
}
