import { readText } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { expect, it } from 'vitest';
import { askHuman } from '../src/index.js';

it('a question that nobody answers comes with its default as the text that the model reads', async () => {
  const store = await memory().open();
  const asked = await askHuman({ default: 'Take the train.', within: '1h' }).operation?.(
    { question: 'Train or plane?' } as never,
    store.content,
  );
  expect(asked).toMatchObject({ op: 'ask', within_ms: 3_600_000 });
  if (asked?.op !== 'ask' || asked.default_ref === undefined) throw new Error('there is no default');
  expect(await readText(store.content, asked.default_ref)).toBe('Take the train.');
  await store.close();
});
