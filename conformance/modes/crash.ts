/**
 * Mode `crash`: a process dies around each append and at each start of something outside; the next one opens what is
 * left, is asked the same, and comes to the same end. What that means in full: `survivor.ts`.
 */
import assert from 'node:assert/strict';
import type { ModelClient } from '@reprise/providers';
import { VirtualClock } from '@reprise/testkit';
import type { Tool } from 'reprise';
import { type Played, play } from '../scenarios/play.js';
import { settingOf, wireOf } from '../scenarios/run-scenario.js';
import type { TapePlayer } from '../scenarios/tape-player.js';
import type { Case } from './cases.js';
import { type Blow, Mortal, wordsOf } from './mortal.js';
import { begunOnce, framesOf } from './settlements.js';
import { holdSurvivor, type Survivor, type Undisturbed } from './survivor.js';

/** Parts of a world that may be broken, to check that the damage is found. */
export interface Broken {
  readonly mortal?: Mortal;
  readonly wrapTool?: (tool: Tool) => Tool;
  readonly wire?: (wire: TapePlayer) => TapePlayer;
}

/** Every blow that can hit a case, in the order in which a process reaches them. */
export async function blowsOf(one: Case): Promise<Blow[]> {
  const { appends, dispatches } = await undisturbed(one);
  const each = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
  const sides = ['before', 'after'] as const;
  return [
    ...each(appends).flatMap((n) => sides.map((side): Blow => ({ step: 'append', n, side }))),
    ...each(dispatches).map((n): Blow => ({ step: 'dispatch', n })),
  ];
}

const known = new Map<Case, Promise<Undisturbed>>();

/** A case without a blow, in the same process that would strike it. */
export function undisturbed(one: Case): Promise<Undisturbed> {
  const found = known.get(one) ?? measure(one);
  known.set(one, found);
  return found;
}

async function measure(one: Case): Promise<Undisturbed> {
  const mortal = new Mortal();
  const process = mortal.process();
  const wire = wireOf(one.scenario, one.profile, { exactly: true });
  const { outcome } = await live(one, { process, wire, life: 0, clock: new VirtualClock() }, {});
  return { appends: process.appends, dispatches: process.dispatches, text: outcome.text };
}

/** Strikes a case with blows, one process after the other, and checks the promises afterwards. */
export async function survive(one: Case, blows: readonly Blow[], broken: Broken = {}): Promise<Survivor> {
  const survivor = await struck(one, blows, broken);
  try {
    await holdSurvivor(one, survivor, await undisturbed(one));
    return survivor;
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${one.title}, killed ${blows.map(wordsOf).join(', then ')}: ${words}`, { cause: error });
  }
}

/** Strikes a case, and lets the last process end. */
export async function struck(one: Case, blows: readonly Blow[], broken: Broken = {}): Promise<Survivor> {
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
    // After a death the remaining work may end before the next kill point is reached.
    assert.ok(end !== 'ended' || life > 0, `${one.title}: nothing was killed ${wordsOf(blow)}`);
    for (const effect of begunOnce(await framesOf(mortal.store))) interrupted.add(effect);
    clock = new VirtualClock({ wall: clock.wall() });
    wire.reconnect();
  }
  const process = mortal.process();
  const ended = await live(one, { process, wire, life: blows.length, clock }, broken);
  return { ...ended, mortal, wire, interrupted };
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
): Promise<Played> {
  const setting = settingOf(scenario, profile, wire, life);
  const client: ModelClient = process.client(setting.client);
  const tools = (tool: Tool): Tool => wrapTool(process.tool(tool));
  return play(scenario, { ...setting, client, store: process.store, clock, wrapTool: tools });
}
