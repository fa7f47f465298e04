/** Options that are checked before a world is opened. */
import { describe, expect, it } from 'vitest';
import { type AnyAgent, defineAgent, type Models, openWorld } from '../src/index.js';
import { script } from '../src/providers.js';
import { memory } from '../src/store.js';

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
      'invalid_argument: invalid script; at step 1; expected a step or a function, each as an argument of its own',
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
