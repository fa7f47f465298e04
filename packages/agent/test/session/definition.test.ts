/** What happens to a session when the agent's definition changes, or its code fails. */

import { memory, openWorld, verifyStore } from '@reprise/kernel';
import { defineApp } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  AgentWorld,
  defineAgent,
  defineTool,
  llmStepPlan,
  openAgentWorld,
  sessionReducer,
  type Tool,
  toolCallAdapter,
  toolCallPlan,
} from '../../src/index.js';
import { gate, play, ScriptedLlm, type Step, transcript } from './scene.js';

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  args: z.strictObject({}),
  delivery: 'idempotent',
  run: () => 'ho',
});
const tools = [echo] as unknown as Tool<never>[];

describe('a changed definition', () => {
  it('is adopted at the next input of a later process, and what was said stays', async () => {
    const store = memory();
    await play({ steps: [{ text: 'old' }], store, instructions: 'Old.' }, async ({ session }) => {
      await (await session.send('1')).text();
    });
    const changed = { store, instructions: 'New.', model: 'other', tools };
    const steps = [{ calls: [{ id: 'a', tool: 'echo' }] }, { text: 'new' }];
    await play({ ...changed, steps }, async ({ session, llm }) => {
      expect(await (await session.send('2')).text()).toBe('new');
      expect(llm.models).toEqual(['other', 'other']);
      expect(llm.instructions[0]).toBe('New.');
      expect(llm.asked[0]).toEqual(['user: 1', 'assistant: ', 'user: 2']);
    });
  });

  it('that is equal in content is not adopted again', async () => {
    const store = memory();
    for (const text of ['1', '2']) {
      await play({ steps: [{ text }], store }, async ({ session, world }) => {
        await (await session.send(text)).text();
        // manifest, adoption, then input and receipt of each run
        expect(world.kernel.head.seq).toBe(text === '1' ? 3 : 5);
      });
    }
  });

  it('leaves the run that is under way as it began; the next one is the first under it', async () => {
    const held = gate();
    const store = memory();
    const one = defineAgent({ name: 'actor', model: 'one', instructions: 'One.', tools: [echo] });
    const two = defineAgent({
      name: 'actor',
      model: 'two',
      instructions: 'Two.',
      tools: [echo],
      limits: { max_steps: 1 },
    });
    const llm = new ScriptedLlm([
      { after: held.opened, answer: { calls: [{ id: 'a', tool: 'echo' }] } },
      { text: 'by one' },
      { text: 'by two' },
    ]);
    const world = await openAgentWorld({ store, agents: [one, two], llm });
    const first = await world.session('stage', one).send('1');
    const second = await world.session('stage', two).send('2');
    held.open();
    expect(await first.text()).toBe('by one');
    expect(await second.text()).toBe('by two');
    expect(llm.models).toEqual(['one', 'one', 'two']);
    expect(llm.instructions).toEqual(['One.', 'One.', 'Two.']);
    await world.verify();
    await world.close();
  });
});

describe('an agent that this build does not have', () => {
  it('is refused where the session is asked for', async () => {
    await play({ steps: [] }, async ({ world }) => {
      const stranger = defineAgent({ name: 'stranger', model: 'main', instructions: '' });
      expect(() => world.session('x', stranger)).toThrow(expect.objectContaining({ code: 'unknown_agent' }));
    });
  });

  it('given a tool that the build has no more, its calls are answered as data and the session lives', async () => {
    const held = gate();
    const store = memory();
    const asking: Step = { after: held.opened, answer: { calls: [{ id: 'a', tool: 'echo' }] } };
    await play({ steps: [asking], store, tools, goesOn: true }, async ({ session }) => {
      await session.send('Go');
    });
    held.open();
    const steps = [asking, { text: 'So be it.' }];
    await play({ steps, store }, async ({ session, llm }) => {
      const run = await session.run(0);
      expect(await run?.text()).toBe('So be it.');
      expect(llm.asked[1]?.at(-1)).toBe('error a: (failed tool_not_found)');
    });
  });
});

describe('a plan that fails', () => {
  /** The twin of a plan under its own name: same schemas, other code. */
  function twin<P extends typeof llmStepPlan | typeof toolCallPlan>(plan: P): P {
    return {
      ...plan,
      run: () => {
        throw new TypeError('a defect');
      },
    } as never;
  }

  it.each([
    ['the model’s', [twin(llmStepPlan), toolCallPlan], ['user: Go']],
    [
      'a call’s',
      [llmStepPlan, twin(toolCallPlan)],
      ['user: Go', 'assistant: echo a, echo b', 'error a: (cancelled)', 'error b: (cancelled)'],
    ],
  ] as const)(
    '%s ends the run Failed, leaves no call without a result, and the session lives',
    async (_, plans, said) => {
      const store = memory();
      const app = defineApp({ reducers: [sessionReducer], plans });
      const agent = defineAgent({ name: 'actor', model: 'main', instructions: 'Act.', tools: [echo] });
      const calls = ['a', 'b'].map((id) => ({ id, tool: 'echo' }));
      const llm = new ScriptedLlm([{ calls }]);
      const world = new AgentWorld(
        await openWorld({ store, app, adapters: [llm, toolCallAdapter([echo] as unknown as Tool[])] }),
        [agent],
      );
      const { stop } = await (await world.session('stage', agent).send('Go')).result();
      expect(stop).toEqual({ kind: 'Failed', code: 'internal_invariant_violation', retryable: false, stage: 'plan' });
      expect(await transcript({ world })).toEqual(said);
      expect(await world.session('stage', agent).state()).toMatchObject({ lifecycle: 'Failed', run: null, calls: [] });
      expect(await world.kernel.openEffects()).toEqual([]);
      await world.close();
      const reader = await store.openReadonly();
      await verifyStore(reader, { app });
    },
  );
});
