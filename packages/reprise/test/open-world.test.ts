/** Options that are checked before a world is opened. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AnyAgent, defineAgent, defineTool, type Models, openWorld } from '../src/index.js';
import { memory } from '../src/kernel.js';
import { script } from '../src/providers.js';
import { testWorld } from '../src/testing/testing.js';

describe('the models of a world', () => {
  it.each([
    [
      'no models',
      undefined,
      'at models; expected models by alias, such as { main: openAiCompatible({ … }) }; got undefined',
    ],
    ['the name of a model', { main: 'gpt-5' }, 'at models.main; expected a model from reprise/providers'],
  ])('openWorld refuses %s and says what it expects', async (_, models, message) => {
    const opening = openWorld({ store: memory(), models: models as never });
    await expect(opening).rejects.toThrow(`invalid_argument: invalid option of openWorld; ${message}`);
  });

  it('a script refuses a list of steps and says how to pass them', () => {
    expect(() => script([{ text: 'Hi.' }] as never)).toThrow(
      /invalid script; at step 1; expected a step, .*; got a list\. Give each step as an argument of its own: script\(first, second\)\./,
    );
  });
});

describe('the models of agents', () => {
  const scribe = defineAgent({ name: 'scribe', model: 'main', instructions: 'Be brief.' });
  const main = script({ text: 'Hi.' });

  it('a world without the model of an agent does not compile, and is refused', async () => {
    // @ts-expect-error the agent's model is `main`
    const opening = openWorld({ store: memory(), models: { mian: main }, agents: [scribe] });
    await expect(opening).rejects.toThrow('unknown_model: the world has no model "main"; at agent scribe');
  });

  it('models and agents that are only known at run time compile, and are checked when the world is opened', async () => {
    const models: Models = { mian: main };
    await expect(openWorld({ store: memory(), models, agents: [scribe] })).rejects.toThrow(/^unknown_model/);
    const agents: readonly AnyAgent[] = [scribe];
    await using world = await openWorld({ store: memory(), models: { main }, agents });
    expect(world.created).toBe(true);
  });
});

describe('the options of a world', () => {
  const scribe = defineAgent({ name: 'scribe', model: 'main', instructions: 'Be brief.' });
  const open = (options: object) =>
    openWorld({ store: memory(), models: { main: script({ text: 'Hi.' }) }, agents: [scribe], ...options });

  it.each([
    ['agent', 'agents'],
    ['onErorr', 'onError'],
    ['tool', 'tools'],
    ['snapshotEvry', 'snapshotEvery'],
  ])('openWorld refuses the unknown option %s and names %s', async (unknown, known) => {
    await expect(open({ [unknown]: [] })).rejects.toThrow(`invalid_argument: unknown option "${unknown}" of openWorld`);
    await expect(open({ [unknown]: [] })).rejects.toThrow(`Did you mean "${known}"?`);
    await expect(testWorld({ models: {}, [unknown]: [] })).rejects.toThrow(`unknown option "${unknown}" of testWorld`);
  });

  it('openWorld refuses adapters, which belong to the kernel’s world', async () => {
    await expect(open({ adapters: [] })).rejects.toThrow('unknown option "adapters" of openWorld');
  });

  it('a misspelled alias is refused with the alias that was meant', async () => {
    const models: Models = { main: script({ text: 'Hi.' }) };
    const writer = defineAgent({ name: 'writer', model: 'mian', instructions: '' });
    const opening = openWorld({ store: memory(), models, agents: [writer] });
    await expect(opening).rejects.toThrow('the world has no model "mian"; at agent writer');
    await expect(opening).rejects.toThrow('Did you mean "main"?');
  });

  it('onError of a world gets the error of a tool as it was thrown, with its place', async () => {
    const thrown = new TypeError('no such customer');
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      args: z.strictObject({}),
      run: () => {
        throw thrown;
      },
    });
    const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.', tools: [look] });
    const main = script({ calls: [{ tool: 'look', args: {} }] }, { text: 'Sorry.' });
    const seen: unknown[] = [];
    const onError = (...told: unknown[]) => void seen.push(told);
    await using world = await openWorld({ store: memory(), models: { main }, agents: [clerk], onError });
    expect(await (await world.session('a', clerk).send('Look.')).text()).toBe('Sorry.');
    expect(seen).toEqual([
      [thrown, expect.objectContaining({ name: 'tool.call@1', cell: ['aos.agent/SessionReducer@1', 'a'] })],
    ]);
  });
});
