import { describe, expect, it } from 'vitest';
import { type ModelContext, type ModelNote, script, typewriter } from '../src/index.js';

const request = { system: '', messages: [], tools: [] };

function context(signal = new AbortController().signal) {
  const notes: ModelNote[] = [];
  const asked: ModelContext = {
    signal,
    idempotencyKey: 'k',
    progress: (note) => notes.push(note),
    secret: async () => '',
  };
  return { notes, asked };
}

describe('a model that speaks at a pace', () => {
  it('the text arrives word by word, and the result equals the underlying model', async () => {
    const { notes, asked } = context();
    const step = { text: 'One two\nthree.', calls: [{ tool: 'a', args: {} }] };
    const result = await typewriter(script(step), 0).generate(request, asked);
    expect(result).toEqual(await script(step).generate(request, context().asked));
    expect(notes.map((note) => (note.type === 'delta' ? note.text : note.type))).toEqual(['One ', 'two\n', 'three.']);
  });

  it('the reasoning arrives word by word before the text', async () => {
    const { notes, asked } = context();
    await typewriter(script({ reasoning: 'Let me see.', text: 'Yes.' }), 0).generate(request, asked);
    expect(notes.map((note) => (note.type === 'delta' ? [note.channel, note.text] : note.type))).toEqual([
      ['reasoning', 'Let '],
      ['reasoning', 'me '],
      ['reasoning', 'see.'],
      ['text', 'Yes.'],
    ]);
  });

  it('a stopped typewriter keeps the text so far, and nothing later', async () => {
    const stop = new AbortController();
    const { notes, asked } = context(stop.signal);
    const progress = (note: ModelNote) => {
      asked.progress(note);
      if (notes.length === 2) stop.abort();
    };
    const model = typewriter(script({ text: 'One two three.', calls: [{ tool: 'a', args: {} }] }), 1);
    expect(await model.generate(request, { ...asked, progress })).toMatchObject({
      ok: true,
      response: { text: 'One two ', calls: [], finishReason: 'interrupted' },
    });
    const before = typewriter(script({ text: 'One.' }), 1);
    expect(await before.generate(request, context(AbortSignal.abort()).asked)).toMatchObject({
      ok: false,
      failure: { status: 'cancelled' },
    });
  });

  it('a failure is passed on unchanged', async () => {
    const model = typewriter(script({ fail: 'provider_error_terminal/refused' }), 0);
    expect(await model.generate(request, context().asked)).toMatchObject({ ok: false });
  });
});
