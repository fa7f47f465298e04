/**
 * Scenarios × protocols, each killed at seeded places: around an append, or as something outside has been started. All
 * cases, at every place, and at two one after the other: `scripts/long/scenarios.ts`.
 */

import type { JournalRecord, Value } from '@reprise/contracts';
import { decode, encode, type OpenStore, type Store } from '@reprise/kernel';
import { loadWorld, saveWorld } from '@reprise/testkit';
import type { Tool } from 'reprise';
import { describe, expect, it } from 'vitest';
import { spread } from '../part.js';
import { quickMemory } from '../quick-memory.js';
import { randomFrom } from '../random.js';
import type { RequestBody } from '../scenarios/profiles.js';
import type { TapePlayer } from '../scenarios/tape-player.js';
import { load, storeOf } from '../tamper/sample.js';
import { CASES, caseOf, SAMPLED, titled } from './cases.js';
import { blowsOf, struck, survive, undisturbed } from './crash.js';
import { type Blow, Mortal } from './mortal.js';
import { settlementsOf } from './settlements.js';
import { holdSurvivor, type Survivor } from './survivor.js';

const SEED = 20_26;
const BLOWS = 4;

describe(`crash (seed ${SEED}) [REC-1, EFF-3, EFF-13, MOD-13]`, () => {
  it.each(titled(spread(4, SAMPLED)))('%s', async (_, one) => {
    const random = randomFrom(Math.imul(SEED, 7919) + CASES.indexOf(one));
    const blows = await blowsOf(one);
    for (let i = 0; i < BLOWS; i++) await survive(one, blows.splice(Math.floor(random() * blows.length), 1));
  });
});

describe('a call that is left behind by a process that died', () => {
  /** It was begun. */
  const begun: Blow = { step: 'dispatch', n: 2 };
  /** Its attempt is durable, and it was not begun. */
  const armed: Blow = { step: 'append', n: 5, side: 'after' };

  /** The end of the case, and the number of calls of its handler, with any outcome. */
  async function leftBehind(scenario: string, blow: Blow) {
    let asked = 0;
    const counted = (tool: Tool): Tool => ({
      ...tool,
      run: (args, context) => {
        asked++;
        return tool.run(args, context);
      },
    });
    const { interrupted } = await survive(caseOf(scenario, 'openai-responses'), [blow], { wrapTool: counted });
    return { asked, unknown: interrupted.size };
  }

  it('an at-most-once call is not repeated after a crash, begun or not: its outcome is unknown [EFF-7, TOOL-12]', async () => {
    expect(await leftBehind('single-tool', begun)).toEqual({ asked: 1, unknown: 1 });
    expect(await leftBehind('single-tool', armed)).toEqual({ asked: 0, unknown: 1 });
  });

  it('an idempotent call is repeated after a crash without a notice [EFF-8]', async () => {
    expect(await leftBehind('idempotent-tool', begun)).toEqual({ asked: 2, unknown: 0 });
    expect(await leftBehind('idempotent-tool', armed)).toEqual({ asked: 1, unknown: 0 });
  });

  it('a reconcilable call is repeated only when the lookup shows that it did not happen [EFF-9]', async () => {
    expect(await leftBehind('reconciled-tool', begun)).toEqual({ asked: 1, unknown: 0 });
    expect(await leftBehind('reconciled-tool', armed)).toEqual({ asked: 1, unknown: 0 });
  });
});

describe('mutants', () => {
  const one = caseOf('single-tool', 'anthropic-messages');
  /** The call is done, and its outcome is unknown. */
  const inside: Blow = { step: 'dispatch', n: 2 };

  it('a store that loses its last acknowledged frame is found: a head is missing', async () => {
    const forgotten = survive(one, [{ step: 'append', n: 8, side: 'before' }], { mortal: new Forgetful() });
    await expect(forgotten).rejects.toThrow('C2: an acknowledged head is not in the journal');
  });

  it('a tool that is replayed twice is counted twice', async () => {
    const twice = survive(one, [{ step: 'append', n: 1, side: 'before' }], {
      wrapTool: (tool) => ({
        ...tool,
        run: async (args, context) => {
          await tool.run(args, context);
          return tool.run(args, context);
        },
      }),
    });
    await expect(twice).rejects.toThrow(/C3: [0-9a-f]{64} was replayed 2 times/);
  });

  it('an at-most-once call that is executed as idempotent happens twice', async () => {
    const repeated = survive(one, [inside], {
      wrapTool: (tool) => ({ ...tool, entry: { ...tool.entry, guarantee: 'idempotent' } }),
    });
    await expect(repeated).rejects.toThrow(/C3: [0-9a-f]{64} was replayed 2 times/);
  });

  it('a request without the result of a call breaks a rule of its protocol', async () => {
    const without = survive(one, [inside], { wire: withoutResults });
    await expect(without).rejects.toThrow('C6');
  });

  it('a reconcilable call with a false verdict "did not happen" happens twice', async () => {
    const lookedUp = caseOf('reconciled-tool', 'anthropic-messages');
    const forgotten = survive(lookedUp, [inside], {
      wrapTool: (tool) => ({ ...tool, reconcile: () => 'not_done' as const }),
    });
    await expect(forgotten).rejects.toThrow(/C3: [0-9a-f]{64} was replayed 2 times/);
  });

  it('an effect that is settled twice is reported', () => {
    const receipt = {
      kind: 'receipt',
      effect: 'e',
      receipt: { status: 'ok', adapter: 'a' },
    } as unknown as JournalRecord;
    expect(() => settlementsOf([[receipt], [receipt]])).toThrow('C5: e was settled twice');
  });
});

describe('the judge of survivors finds', () => {
  const one = caseOf('single-tool', 'anthropic-messages');
  const { ends } = one.scenario;
  const call: Blow = { step: 'dispatch', n: 2 };

  const inModel: Blow = { step: 'dispatch', n: 1 };
  type Change = (survivor: Survivor) => Promise<Partial<Survivor>> | Partial<Survivor>;

  it.each<[what: string, says: string, blow: Blow, change: Change]>([
    ['an unknown outcome of what nothing interrupted', 'C4: Set', call, () => ({ interrupted: new Set() })],
    ['an interrupted call that is not told', 'C4: Set', inModel, () => ({ interrupted: new Set(['e']) })],
    ['a model that has not read it', 'C4: no model', call, ({ wire }) => ({ wire: heard(wire, ['Ready.']) })],
    ['an effect that stays open', 'C5: 1 instead of 0', call, () => ({ open: 1 })],
    ['another answer of a command', 'C8: {', call, () => ({ told: ['applied'] })],
    ['another text', 'C8: {', call, ({ outcome }) => ({ outcome: { ...outcome, text: 'It is 6.' } })],
    ['an event less', 'C8: {', call, ({ events }) => ({ events: events.slice(1) })],
    ['a failure without need', 'C8: {', inModel, async () => ({ events: (await struck(one, [call])).events })],
    ['a model that was shown nothing', 'C8: no model', inModel, ({ wire }) => ({ wire: heard(wire, []) })],
  ])('%s (%s)', async (_, says, blow, change) => {
    const survivor = await struck(one, [blow]);
    const without = await undisturbed(one);
    await holdSurvivor(one, survivor, without);
    const changed = { ...survivor, ...(await change(survivor)) };
    await expect(holdSurvivor(one, changed, without)).rejects.toThrow(says);
  });

  it('another reason to stop (C1)', async () => {
    const otherwise = {
      ...one,
      scenario: { ...one.scenario, ends: { ...ends, stop: { kind: 'Cancelled' } as const } },
    };
    await expect(survive(otherwise, [call])).rejects.toThrow(
      'single-tool × anthropic-messages, killed at dispatch 2: C1',
    );
  });

  it('a frame with the time of another frame (C7)', async () => {
    const survivor = await struck(one, [call]);
    const { mortal } = survivor;
    const sample = await load(await mortal.store.openReadonly());
    const frames = sample.frames.map((frame) => (frame.seq === 3 ? { ...frame, at: frame.at + 1 } : frame));
    mortal.store = { ...mortal.store, openReadonly: async () => storeOf({ ...sample, frames }) };
    await expect(holdSurvivor(one, survivor, await undisturbed(one))).rejects.toThrow(/\bframe 3\b/);
  });
});

/** A wire over which these requests came and no others. */
const heard = (wire: TapePlayer, bodies: string[]): TapePlayer => Object.assign(wire, { bodies });

/** A store that has lost its last frame when it is opened after a crash. */
class Forgetful extends Mortal {
  #mustForget = false;

  override crashed(): void {
    super.crashed();
    this.#mustForget = true;
  }

  override async open(): Promise<OpenStore> {
    if (this.#mustForget) this.store = await withoutLast(this.store);
    this.#mustForget = false;
    return super.open();
  }
}

async function withoutLast(store: Store): Promise<Store> {
  const { frames, ...rest } = decode(await saveWorld(store)) as { readonly frames: readonly Value[] };
  return loadWorld(encode({ ...rest, frames: frames.slice(0, -1) }), quickMemory());
}

/** Takes the results of calls out of requests on their way. */
function withoutResults(wire: TapePlayer): TapePlayer {
  const { fetch } = wire;
  const mute: typeof fetch = (url, init) => {
    const { messages, ...rest } = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array)) as RequestBody;
    const left = messages?.filter((message) => !JSON.stringify(message).includes('tool_result'));
    const body = new TextEncoder().encode(JSON.stringify({ ...rest, messages: left }));
    return fetch(url, { ...init, body });
  };
  return Object.assign(wire, { fetch: mute });
}
