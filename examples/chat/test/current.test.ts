/** Which version of a message the page shows while the journal and the run's stream each bring their own. */
import { describe, expect, it } from 'vitest';
import { current } from '../page/current.js';

const call = (state: string) => ({ type: 'tool-book', state });
const text = (words: string) => ({ type: 'text', text: words });
const question = (state: string) => ({ type: 'data-question', data: { state } });
const message = (...parts: object[]) => ({ parts });

describe('the version of a message that is shown', () => {
  it('while the stream is read, its words are shown', () => {
    const [journal, live] = [message(text('')), message(text('Once there'))];
    expect(current(journal, live, true)).toBe(live);
    expect(current(journal, live, false)).toBe(journal);
    expect(current(journal, undefined, true)).toBe(journal);
  });

  it('a question that the journal has stays shown while the stream catches up', () => {
    const journal = message(text('Let me see.'), call('approval-requested'));
    expect(current(journal, message(text('Let me see.'), call('input-available')), true)).toBe(journal);
    expect(current(journal, message(text('Let')), true)).toBe(journal);
  });

  it('a question that the stream has stays shown after the stream ended, while the journal catches up', () => {
    const live = message(text('Let me see.'), call('approval-requested'));
    expect(current(message(text('Let me see.'), call('input-available')), live, false)).toBe(live);
    expect(current(message(text('Let me see.')), live, false)).toBe(live);
  });

  it('an answer that was given elsewhere is shown, although the stream still has the question', () => {
    const journal = message(question('answered'));
    expect(current(journal, message(question('open')), true)).toBe(journal);
  });
});
