/** Parts of a world: cells of other packages beside the sessions of agents. */

import * as z from '@reprise/contracts/schema';
import { memory } from '@reprise/kernel';
import { defineReducer } from '@reprise/kernel/define';
import { QUEUE, queue } from '@reprise/org/contracts';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { AGENT_POLICY, appOf, defineAgent, defineTool, type OwnerAnswered, type WorldPart } from '../../src/index.js';
import { play } from '../api/scene.js';
import { member, TEAM, teams } from './team.js';

const flow: WorldPart<string> = { name: 'flow', reducers: [queue], handle: () => 'flow' };
const calls = (...named: readonly [tool: string, text: string][]) => ({
  calls: named.map(([tool, text], i) => ({ id: `c${i}`, tool, args: { text } })),
});

describe('the parts of a world', () => {
  it('parts bring reducers whose cells live beside sessions, in one journal that the app of the parts replays', () =>
    play({ agents: [], steps: [], parts: [flow] }, async ({ world, settle }) => {
      await world.kernel.request([QUEUE, 'q'], { name: 'flow/OpenQueue@1', value: { limit: 1 } });
      await settle();
      expect(await world.kernel.state([QUEUE, 'q'])).toMatchObject({ limit: 1 });
      expect(world.part(flow)).toBe('flow');
    }));

  it('parts are each opened once, a used part before its user, and closed in the opposite order', async () => {
    const order: string[] = [];
    const part = (name: string, uses: readonly WorldPart[] = []): WorldPart<string> => ({
      name,
      uses,
      started: async () => {
        order.push(`start ${name}`);
        return async () => void order.push(`stop ${name}`);
      },
      handle: () => name,
    });
    const base = part('base');
    const [left, right] = [part('left', [base]), part('right', [base])];
    await play({ agents: [], steps: [], parts: [left, right] }, async ({ world }) => {
      expect(world.part(base)).toBe('base');
    });
    const starts = ['start base', 'start left', 'start right'];
    expect(order).toEqual([...starts, 'stop right', 'stop left', 'stop base']);
  });

  it('several parts list one and the same reducer, which the world then has once', () => {
    const own: WorldPart = { name: 'own', reducers: [queue], handle: () => 0 };
    return play({ agents: [], steps: [], parts: [flow, own] }, async ({ world }) => {
      await world.kernel.request([QUEUE, 'q'], { name: 'flow/OpenQueue@1', value: { limit: 1 } });
      expect(await world.kernel.state([QUEUE, 'q'])).toMatchObject({ limit: 1 });
    });
  });

  it('parts with one name, given twice, in a circle, or with a reducer of one name are refused before anything opens', async () => {
    const again: WorldPart = { name: 'flow', handle: () => 0 };
    const own: WorldPart = { name: 'own', reducers: [queue], handle: () => 0 };
    const other: WorldPart = { name: 'other', reducers: [otherQueue()], handle: () => 0 };
    const circle: { -readonly [K in keyof WorldPart]: WorldPart[K] } = { name: 'circle', handle: () => 0 };
    circle.uses = [circle];
    for (const parts of [
      [flow, flow],
      [flow, again],
      [own, other],
    ]) {
      const store = memory();
      await expect(play({ agents: [], steps: [], parts, store }, async () => undefined)).rejects.toThrow(
        /duplicate_definition/,
      );
    }
    expect(() => appOf([circle])).toThrow(/invalid_definition.*circle/s);
  });

  it.each([
    ['that is no list', { flow }, 'expected a list of parts'],
    ['that is missing', [undefined], 'at parts[0]'],
    ['without a name', [{ handle: () => 0 }], 'at parts[0]'],
    ['without a handle', [{ name: 'flow' }], 'at parts[0]'],
    ['that uses what is no part', [{ ...flow, uses: ['queue'] }], 'at uses of the part flow[0]'],
  ])('a part %s is refused in words', (_what, parts, words) => {
    expect(() => appOf(parts as never)).toThrow(words);
    expect(() => appOf(parts as never)).toThrow('invalid_definition: invalid part of a world');
  });

  it('a part that the world was opened without has no handle', () =>
    play({ agents: [], steps: [], parts: [flow] }, async ({ world }) => {
      expect(() => world.part({ name: 'flow', handle: () => 1 })).toThrow(/opened without the part "flow"/);
    }));

  it('a part whose start fails closes the world again', async () => {
    const store = memory();
    const bad: WorldPart = { name: 'bad', started: () => Promise.reject(new Error('no')), handle: () => 0 };
    await expect(play({ agents: [], steps: [], parts: [bad], store }, async () => undefined)).rejects.toThrow('no');
    await play({ agents: [], steps: [], store }, async () => undefined);
  });
});

describe('the policy of a world with parts', () => {
  const rules = [{ effect: 'test.look_up@1', decision: 'allow' as const }];

  it('the policy is the rules of the parts and those of agents when the app gives none', () =>
    play({ agents: [], steps: [], parts: [teams()] }, async ({ world }) => {
      expect(await policyOf(world)).toEqual([...rules, ...AGENT_POLICY]);
    }));

  it('the policy begins with the rules of the app', () => {
    const policy = [{ effect: '*', decision: 'deny' as const }];
    return play({ agents: [], steps: [], parts: [teams()], policy }, async ({ world }) => {
      expect(await policyOf(world)).toEqual([...policy, ...rules]);
    });
  });

  it('a world that is opened again without a policy keeps what was chosen, and adds what the parts need', async () => {
    const store = memory();
    const policy = [{ effect: 'tool.call@1', decision: 'deny' as const }, ...AGENT_POLICY];
    await play({ agents: [], steps: [], policy, store, goesOn: true }, async () => undefined);
    for (let n = 0; n < 2; n++) {
      await play({ agents: [], steps: [], parts: [teams()], store, goesOn: n === 0 }, async ({ world }) => {
        expect(await policyOf(world)).toEqual([policy[0], ...rules, ...AGENT_POLICY]);
      });
    }
  });
});

describe('a part that owns sessions', () => {
  it('an owner answers the calls of its sessions, with what its own effects find, and makes further sessions [OWN-1, OWN-8]', async () => {
    const lookedUp: string[] = [];
    const steps = [calls(['look_up', 'tea'], ['hire', 'Help me.']), { text: 'Done.' }, { text: 'Helped.' }];
    const part = teams(lookedUp);
    await play({ agents: [], steps, parts: [part] }, async ({ world, llm, settle }) => {
      const team = world.part(part);
      await team.start('Find tea.');
      await settle();
      expect(lookedUp).toEqual(['tea']);
      expect((await team.state()).ended.sort()).toEqual(['team/1', 'team/2']);
      const told = llm.asked.find(({ transcript }) => transcript.length > 2)?.transcript.slice(-2);
      expect(told).toEqual(['owner c0: "test/LookedUp@1" found: tea in team', 'owner c1: "team/2"']);
    });
  });

  it('an owner answers a call also when its own effect fails [OWN-8]', async () => {
    const steps = [calls(['look_up', 'nothing']), { text: 'Done.' }];
    const part = teams();
    await play({ agents: [], steps, parts: [part] }, async ({ world, llm, settle }) => {
      await world.part(part).start('Find nothing.');
      await settle();
      expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('error c0: "nothing found"');
    });
  });

  it('a question of an owner to people names no session, and its answer reaches the call [OWN-4]', async () => {
    const steps = [calls(['ask_people', 'Red or blue?']), { text: 'Red.' }];
    const part = teams();
    await play({ agents: [], steps, parts: [part] }, async ({ world, llm, settle }) => {
      await world.part(part).start('Choose.');
      await settle();
      expect((await world.sessions()).items).toMatchObject([{ key: 'team/1', status: 'WaitingInput' }]);
      const [item] = await world.pending();
      expect(item).toMatchObject({ kind: 'question', title: 'team team', to: 'human:ann', labels: {} });
      expect(item?.question).toEqual({ question: 'Red or blue?' });
      expect(item).not.toHaveProperty('session');
      expect(await world.pending({ to: 'human:bob' })).toEqual([]);
      expect(await world.pending({ session: TEAM[1] })).toEqual([]);
      await expect(world.answer(item as never, 'red', { as: 'human:bob' })).rejects.toThrow(/cap_denied|policy_denied/);
      expect(await world.answer(item as never, 'red', { as: 'human:ann' })).toEqual({ status: 'applied' });
      await settle();
      expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('owner c0: "test/Told@1" answer: red');
      expect(await world.pending()).toEqual([]);
    });
  });

  it('a dry fork makes every call of an owner again, without being fed and without one call outside [OWN-9]', async () => {
    const lookedUp: string[] = [];
    const steps = [calls(['look_up', 'tea'], ['hire', 'Help me.']), { text: 'Done.' }, { text: 'Helped.' }];
    const part = teams(lookedUp);
    const store = memory();
    const into = memory();
    let whole: unknown;
    await play({ agents: [], steps, parts: [part], store, goesOn: true }, async ({ world, settle }) => {
      const { seq } = await world.part(part).start('Find tea.');
      await settle();
      whole = await world.part(part).state();
      await world.fork({ at: seq, into, mode: 'dry' });
    });
    await play({ agents: [], steps: [], parts: [part], store: into }, async ({ world, llm, settle }) => {
      await settle();
      expect([llm.asked.length, lookedUp]).toEqual([0, ['tea']]);
      expect(await world.part(part).state()).toEqual(whole);
    });
  });

  it('the program of a turn calls the owner under the identity of its session, once for each id [OWN-5]', async () => {
    const heard: (OwnerAnswered | 'pending')[] = [];
    const program = defineTool({
      name: 'program',
      description: 'Works on its own.',
      args: zod.strictObject({}),
      run: async (_args, { owner }) => {
        for (let n = 0; n < 100; n++) heard.push(await owner('hire', { text: 'Help me.' }, { id: '1' }));
        heard.push(await owner('ask_people', { text: 'Who?' }, { within: '50ms' }));
        await expect(owner('hire', { words: 1 } as never)).rejects.toThrow(/invalid_value/);
        return 'over';
      },
    });
    const relay = defineAgent({ name: 'relay', model: 'main', instructions: 'Relay.', tools: [program] });
    const steps = [{ calls: [{ id: 't', tool: 'program' }] }, { text: 'Helped.' }, { text: 'Over.' }];
    const part = teams([], [member, relay]);
    await play({ agents: [], steps, parts: [part] }, async ({ world, settle }) => {
      await world.part(part).start('Go.', relay);
      await settle();
      expect(heard.slice(0, 100)).toEqual(
        Array.from({ length: 100 }, () => ({ value: 'team/2', refs: [], isError: false })),
      );
      expect(heard[100]).toBe('pending');
      expect((await world.part(part).state()).calls).toHaveLength(2);
    });
  });
});

async function policyOf(world: {
  kernel: { frames(from?: number): AsyncIterable<{ records: readonly object[] }>; head: { seq: number } };
}) {
  let policy: unknown;
  let seq = 0;
  for await (const { records } of world.kernel.frames(0)) {
    for (const record of records) if ('policy' in record) policy = record.policy;
    if (seq++ === world.kernel.head.seq) break;
  }
  return policy;
}

function otherQueue() {
  return defineReducer({
    name: QUEUE,
    state: z.strictObject({}),
    events: { 'other/Begin@1': z.strictObject({}) },
    init: () => ({}),
    reduce: () => undefined,
  });
}
