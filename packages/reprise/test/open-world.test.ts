/** Options that are checked before a world is opened. */
import { describe, expect, it } from 'vitest';
import { openWorld } from '../src/index.js';
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
