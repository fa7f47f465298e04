/**
 * Scenarios × protocols, each killed at seeded places: around an append, or as something outside has been started. All
 * cases, at every place, and at two one after the other: `conformance/scenarios-long.ts`.
 */
import type { Value } from '@reprise/contracts';
import { decode, encode, type OpenStore, type Store } from '@reprise/kernel';
import { loadWorld, saveWorld } from '@reprise/testkit';
import { describe, expect, it, vi } from 'vitest';
import { randomFrom } from '../../packages/store-sqlite/test/frames.js';
import { quickMemory } from '../scenarios/perform.js';
import type { RequestBody } from '../scenarios/profiles.js';
import type { TapePlayer } from '../scenarios/tape-player.js';
import { CASES, caseOf, SAMPLED, titled } from './cases.js';
import { blowsOf, survive } from './crash.js';
import { type Blow, Mortal } from './mortal.js';

vi.setConfig({ testTimeout: 300_000 }); // seconds alone, minutes where others share the machine

const SEED = 20_26;
const BLOWS = 4;

describe(`crash (seed ${SEED})`, () => {
  it.each(titled(SAMPLED))('%s', async (_, one) => {
    const random = randomFrom(Math.imul(SEED, 7919) + CASES.indexOf(one));
    const blows = await blowsOf(one);
    for (let i = 0; i < BLOWS; i++) await survive(one, blows.splice(Math.floor(random() * blows.length), 1));
  });
});

describe('broken twins', () => {
  const one = caseOf('single-tool', 'anthropic-messages');
  /** What is done is done, and nobody knows. */
  const inside: Blow = { step: 'dispatch', n: 2 };

  it('a store that forgets what it acknowledged last: a head is not there', async () => {
    const forgotten = survive(one, [{ step: 'append', n: 8, side: 'before' }], { mortal: new Forgetful() });
    await expect(forgotten).rejects.toThrow('C2: an acknowledged head is not in the journal');
  });

  it('a tool that is performed twice is counted twice', async () => {
    const twice = survive(one, [{ step: 'append', n: 1, side: 'before' }], {
      wrapTool: (tool) => ({
        ...tool,
        run: async (args, context) => {
          await tool.run(args, context);
          return tool.run(args, context);
        },
      }),
    });
    await expect(twice).rejects.toThrow(/C3: [0-9a-f]{64} was performed 2 times/);
  });

  it('a call that may happen once, delivered as one that may be repeated, happens twice', async () => {
    const repeated = survive(one, [inside], {
      wrapTool: (tool) => ({ ...tool, entry: { ...tool.entry, delivery: 'idempotent' } }),
    });
    await expect(repeated).rejects.toThrow(/C3: [0-9a-f]{64} was performed 2 times/);
  });

  it('a request without the result of a call breaks a rule of its protocol', async () => {
    const without = survive(one, [inside], { wire: withoutResults });
    await expect(without).rejects.toThrow('C6');
  });

  it('an end that is another than the scenario says is told', async () => {
    const ends = { ...one.scenario.ends, stop: { kind: 'Cancelled' } as const };
    const otherwise = survive({ ...one, scenario: { ...one.scenario, ends } }, [inside]);
    await expect(otherwise).rejects.toThrow('single-tool × anthropic-messages, killed at dispatch 2: C1');
  });
});

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
