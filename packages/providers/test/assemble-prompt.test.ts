import { type NonExecution, putText, type TranscriptItem } from '@reprise/agent';
import { type ContextText, Ref } from '@reprise/contracts';
import { type ContentStore, EMPTY_HEAD, type ErasableContentStore, memory, putValue } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import type { UnifiedMessage, UnifiedPart } from '../src/index.js';
import { ANY_SENDABLE } from '../src/model/sendable.js';
import { assemblePrompt, INTERRUPTED_TEXT } from '../src/prompt/assemble-prompt.js';
import { ERASED_TEXT, TranscriptReader, UNREADABLE_TEXT } from '../src/prompt/reader.js';
import { MARKS_RULE, systemText } from '../src/prompt/system-text.js';
import { said } from './harness.js';
import { pngOf } from './media.js';

const target: Parameters<typeof assemblePrompt>[2] = { profile: 'p', model: 'm', parallelCalls: true };
const by = { profile: 'p', model: 'm' };

const IMAGE_BYTES_MAX = ANY_SENDABLE.bounds.imageBytesMax;

let content: ContentStore;
let erase: (...refs: Ref[]) => Promise<void>;

beforeEach(async () => {
  const open = await memory().open();
  content = open.content;
  erase = async (...refs) => {
    await open.journal.append([], EMPTY_HEAD);
    await (open.content as ErasableContentStore).erase(refs, 1);
  };
});

const text = (words: string) => putText(content, words);

async function project(items: TranscriptItem[], over: Partial<Parameters<typeof assemblePrompt>[2]> = {}) {
  return assemblePrompt(content, items, { ...target, ...over });
}

function shownOr(part: UnifiedPart): string {
  return part.kind === 'text' ? part.text : `<${part.mediaType} ${part.name}: ${part.bytes.length}>`;
}

/** The texts of messages, each with its role. */
function lines(messages: readonly UnifiedMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === 'user') return `user: ${message.parts.map(shownOr).join(' | ')}`;
    return `${message.role}: ${message.text ?? ''}`;
  });
}

async function answer(words: string, over: Partial<TranscriptItem & { role: 'assistant' }> = {}) {
  const output_ref = await putValue(content, { text: words, tool_calls: [] });
  return { role: 'assistant' as const, output_ref, by, calls: [], ...over };
}

async function asked(call_id = 'c', args = {}): Promise<TranscriptItem> {
  return answer('', { calls: [{ call_id, tool: 'pay', args_ref: await putValue(content, args) }] });
}

describe('user messages of a prompt', () => {
  it('a message names its speaker when the speaker is not the user [MOD-17]', async () => {
    const parts = [{ kind: 'text' as const, text_ref: await text('Stop.') }];
    const spoken = async (origin: (TranscriptItem & { role: 'user' })['origin']) =>
      lines((await project([{ role: 'user', origin, parts }])).messages)[0];
    expect(await spoken('input')).toBe('user: Stop.');
    expect(await spoken('follow_up')).toBe('user: Stop.');
    expect(await spoken('steer')).toBe('user: Stop.');
    expect(await spoken('parent')).toBe(
      'user: <said by="runtime">\nThe agent that started you says what to do:\n</said> | <said by="parent">\nStop.\n</said>',
    );
    expect(await spoken('loop')).toBe('user: <said by="runtime">\nStop.\n</said>');
    expect(await spoken('repair')).toBe('user: <said by="runtime">\nStop.\n</said>');
  });

  it('linked content is shown in the amount that its view states', async () => {
    const long = 'ab'.repeat(2_000);
    const blob_ref = await text(long);
    const told = async (view: 'full' | 'summary' | { head: number }, media_type = 'text/markdown') => {
      const parts = [{ kind: 'blob' as const, blob_ref, view, media_type, name: 'notes.md' }];
      return lines((await project([{ role: 'user', origin: 'input', parts }])).messages)[0];
    };
    expect(await told('full')).toBe(`user: <said by="file of type text/markdown: notes.md">\n${long}\n</said>`);
    expect(await told('summary')).toBe(
      `user: <said by="file of type text/markdown: notes.md" shown="2000 of 4000 bytes; ${blob_ref}">\n${'ab'.repeat(1_000)}\n</said>`,
    );
    expect(await told({ head: 3 })).toMatch(/ shown="3 of 4000 bytes; sha256:[0-9a-f]+">\naba\n<\/said>$/);
    expect(await told('full', 'image/png')).toBe(`user: [file "notes.md": image/png, ${blob_ref}]`);
  });

  it('a model sees the media that it can read, and each other kind is named once as a loss [MOD-20]', async () => {
    const png = await content.put(pngOf());
    const none = await content.put(new Uint8Array());
    const large = await content.put(pngOf({ bytes: IMAGE_BYTES_MAX + 1 }));
    const blob = (blob_ref: Ref, media_type: string, view: 'full' | 'summary' = 'full') => ({
      kind: 'blob' as const,
      blob_ref,
      media_type,
      view,
      name: 'x',
    });
    const told = async (mediaTypes: readonly string[], ...parts: ReturnType<typeof blob>[]) => {
      const { messages, losses } = await project([{ role: 'user', origin: 'input', parts }], { mediaTypes });
      return [lines(messages)[0], losses];
    };
    const words = (ref: Ref, type = 'image/png', why = '') =>
      `[file "x": ${type}, ${ref}${why === '' ? '' : `; not shown, because ${why}`}]`;
    const missing = Ref.fromHex('0'.repeat(64));
    expect(await told(['image/png'], blob(png, 'image/png'))).toEqual([`user: <image/png x: ${pngOf().length}>`, []]);
    expect(await told([], blob(png, 'image/png'), blob(none, 'image/png'))).toEqual([
      `user: ${words(png)} | ${words(none)}`,
      ['image'],
    ]);
    expect(await told(['image/png'], blob(none, 'image/png'))).toEqual([
      `user: ${words(none, 'image/png', 'it is empty')}`,
      ['image'],
    ]);
    expect(await told(['image/png'], blob(large, 'image/png'))).toEqual([
      `user: ${words(large, 'image/png', 'it is too large')}`,
      ['image'],
    ]);
    expect(await told(['image/png'], blob(png, 'image/png', 'summary'))).toEqual([`user: ${words(png)}`, []]);
    expect(await told(['image/png'], blob(png, 'application/pdf'), blob(png, 'application/zip'))).toEqual([
      `user: ${words(png, 'application/pdf')} | ${words(png, 'application/zip')}`,
      ['document'],
    ]);
    expect(await told(['image/png'], blob(missing, 'image/png'))).toEqual([
      `user: ${words(missing)}`,
      ['image', 'unreadable_content'],
    ]);
  });

  it('media are bounded per request, earliest first, so that a longer history begins with the same bytes', async () => {
    const each = await content.put(pngOf({ bytes: IMAGE_BYTES_MAX }));
    const part = { kind: 'blob' as const, blob_ref: each, media_type: 'image/png', view: 'full' as const, name: 'x' };
    const shown = async (count: number) => {
      const parts = Array.from({ length: count }, () => part);
      const { messages } = await project([{ role: 'user', origin: 'input', parts }], { mediaTypes: ['image/png'] });
      const [said] = messages;
      return said?.role === 'user' ? said.parts.map(({ kind }) => kind) : [];
    };
    expect(await shown(3)).toEqual(['media', 'media', 'media']);
    expect(await shown(6)).toEqual(['media', 'media', 'media', 'media', 'text', 'text']);
  });

  it('the result of another agent is shown, whatever its type', async () => {
    const results = [
      await putValue(content, { text: 'Paris.', tool_calls: [] }),
      await putValue(content, { city: 'Paris' }),
      await text('plain'),
    ];
    const parts = results.map((output_ref) => ({
      kind: 'result' as const,
      child: 's1',
      output_ref,
      view: 'full' as const,
    }));
    const { messages } = await project([{ role: 'user', origin: 'input', parts }]);
    expect(lines(messages)[0]).toBe(
      `user: ${['Paris.', '{"city":"Paris"}', 'plain'].map((words) => `<said by="result of agent: s1">\n${words}\n</said>`).join(' | ')}`,
    );
  });
});

describe('tool calls in a prompt', () => {
  const resultOf = async (over: Partial<TranscriptItem & { role: 'tool' }>) => {
    const item = { role: 'tool' as const, call_id: 'c', tool: 'pay', is_error: false, ...over };
    const { messages } = await project([said(await text('Go')), await asked(), item]);
    return lines(messages)[2];
  };

  it.each<[NonExecution['kind'], string]>([
    ['denied', 'was refused and did not happen (policy_denied)'],
    ['cancelled', 'was cancelled and did not happen (policy_denied)'],
    ['interrupted', 'It may have happened in part; check before you repeat it'],
    ['outcome_unknown', 'It may have happened; check before you repeat it'],
    ['completed_late', 'was answered after all (policy_denied); what it came to is told further down'],
    ['failed', 'failed and gave no result (policy_denied)'],
  ])('a call that ended as %s says whether it may have happened [MOD-18]', async (kind, words) => {
    expect(await resultOf({ is_error: true, non_execution: { kind, code: 'policy_denied' } })).toContain(words);
  });

  it('a call shows the arguments that it ran with, and the note of the decision', async () => {
    const told = await resultOf({
      edited_args_ref: await putValue(content, { cents: 5 }),
      note_ref: await text('Only five.'),
      output_ref: await text('paid'),
    });
    expect(told).toBe(
      'tool: <said by="runtime">\nIt ran with these arguments instead, which were changed before it was approved:\n</said>\n\n' +
        '<said by="arguments">\n{"cents":5}\n</said>\n\n' +
        '<said by="note on the decision about this call">\nOnly five.\n</said>\n\npaid',
    );
  });

  it('images that a call made are shown, unless its result is shortened', async () => {
    const bytes = pngOf();
    const blob_ref = await content.put(bytes);
    const files = [
      { blob_ref, path: 'out/plot.png', media_type: 'image/png', bytes: 3 },
      { blob_ref, path: 'out/a.zip', media_type: 'application/zip', bytes: 3 },
    ];
    const item = { role: 'tool' as const, call_id: 'c', tool: 'pay', is_error: false, files };
    const items = [said(await text('Go')), await asked(), item];
    const media = [{ kind: 'media', mediaType: 'image/png', bytes, name: 'out/plot.png', content: blob_ref.hex }];
    const { messages, losses } = await project(items, { mediaTypes: ['image/png'] });
    expect([messages[2], losses]).toEqual([expect.objectContaining({ role: 'tool', media }), []]);
    expect((await project(items)).losses).toEqual(['image']);
    const summed = await project(items, { mediaTypes: ['image/png'], resultBytesMax: 100 });
    expect(summed.messages[2]).not.toHaveProperty('media');
  });

  it('files are named, and results of children are shown within bounds', async () => {
    const blob_ref = await text('png');
    const output_ref = await putValue(content, { text: 'x'.repeat(50_000), tool_calls: [] });
    const child = { child: 'c1', agent: 'scout', status: 'completed' as const, output_ref };
    const told = await resultOf({
      files: [{ blob_ref, path: 'plot.png', media_type: 'image/png', bytes: 3 }],
      children: [child, { child: 'c2', agent: 'scout', status: 'failed', code: 'adapter_error' }],
    });
    expect(told).toContain(`<said by="runtime">\n[file "plot.png": image/png, 3 bytes, ${blob_ref}]\n</said>`);
    expect(told).toMatch(
      /<said by="agent c1, completed: scout" shown="8000 of 50000 bytes; [^"]*">\nx{8000}\n<\/said>/,
    );
    expect(told).toContain('Agent scout (c2): failed (adapter_error).');
    const many = await resultOf({ children: Array.from({ length: 64 }, () => child) });
    expect(many!.length).toBeLessThan(50_000);
  });

  it('a late answer is shown at its position, and earlier messages do not change', async () => {
    const before = [
      said(await text('Go')),
      await asked(),
      {
        role: 'tool' as const,
        call_id: 'c',
        tool: 'pay',
        is_error: true,
        non_execution: { kind: 'interrupted' as const },
      },
      await answer('I stopped.'),
    ];
    const late: TranscriptItem = {
      role: 'late',
      call_id: 'c',
      tool: 'pay',
      status: 'ok',
      output_ref: await text('paid'),
    };
    const first = await project([...before, said(await text('And?'))]);
    const then = await project([...before, late, said(await text('And?'))]);
    expect(then.messages.slice(0, 4)).toEqual(first.messages.slice(0, 4));
    expect(lines(then.messages)[4]).toBe(
      'user: <said by="runtime">\nAutomatic notice, not written by the user: the call of pay (c) that was reported above ' +
        'without a result has been answered after all: it did happen.\n</said> | ' +
        '<said by="late result of c, tool: pay">\npaid\n</said> | And?',
    );
  });
});

describe('model answers in a prompt', () => {
  it('a stopped answer is kept and marked as stopped', async () => {
    const { messages } = await project([said(await text('Go')), await answer('I was ab', { interrupted: true })]);
    expect(lines(messages)).toEqual(['user: Go', 'assistant: I was ab', `user: ${INTERRUPTED_TEXT}`]);
  });

  it('opaque parts go back only to the same profile and model, and each dropped class is named once [MOD-6, MOD-16]', async () => {
    const opaque = [
      { kind: 'reasoning', native: 1 },
      { kind: 'reasoning', native: 2 },
      { kind: 'provider_tool', native: 3 },
    ];
    const output_ref = await putValue(content, { text: 'x', tool_calls: [], opaque });
    const items = [said(await text('Go')), await answer('', { output_ref })];
    const same = await project(items);
    expect(same.losses).toEqual([]);
    expect(same.messages[1]).toMatchObject({ opaque });
    for (const other of [{ profile: 'q' }, { model: 'n' }]) {
      const { messages, losses } = await project(items, other);
      expect(losses).toEqual(['provider_tool', 'reasoning']);
      expect(messages[1]).toEqual({ role: 'assistant', text: 'x', calls: [] });
    }
  });

  it('a window begins with the summary of the conversation before it', async () => {
    const { messages } = await project([said(await text('Go on'))], { base: await text('They met.') });
    expect(lines(messages)).toEqual([
      'user: <said by="summary of the conversation before this point">\nThey met.\n</said> | Go on',
    ]);
  });
});

describe('a transcript with missing content', () => {
  it('erased content is marked in its place, and every call still has an answer [MOD-13]', async () => {
    const [words, printed] = [await text('my name is Ada'), await text('Ada')];
    const args_ref = await putValue(content, { name: 'Ada' });
    const output_ref = await putValue(content, { text: 'Hello Ada', tool_calls: [] });
    const items: TranscriptItem[] = [
      said(words),
      { role: 'assistant', output_ref, by, calls: [{ call_id: 'c', tool: 'add', args_ref }] },
      { role: 'tool', call_id: 'c', tool: 'add', output_ref: printed, is_error: false },
    ];
    expect(JSON.stringify(await project(items))).toContain('Hello Ada');
    await erase(words, printed, args_ref, output_ref);
    expect(await project(items)).toMatchObject({
      losses: [],
      erased: true,
      messages: [
        { role: 'user', parts: [{ kind: 'text', text: ERASED_TEXT }] },
        { role: 'assistant', text: ERASED_TEXT, calls: [{ callId: 'c', tool: 'add', args: { erased: true } }] },
        { role: 'tool', callId: 'c', text: ERASED_TEXT, isError: false },
      ],
    });
  });

  it('missing or invalid content is marked in its place, with a warning', async () => {
    const wrong = (await text('no value')).asValue();
    const items: TranscriptItem[] = [
      said(Ref.fromHex('0'.repeat(64))),
      { role: 'assistant', output_ref: wrong, by, calls: [{ call_id: 'c', tool: 'add', args_ref: wrong }] },
    ];
    const { messages, losses } = await project(items);
    expect(losses).toEqual(['unreadable_content']);
    expect(lines(messages).slice(0, 2)).toEqual([`user: ${UNREADABLE_TEXT}`, `assistant: ${UNREADABLE_TEXT}`]);
  });

  it('a prompt fails when the store fails', async () => {
    const broken = { ...content, get: () => Promise.reject(new Error('disk')), has: content.has.bind(content) };
    await expect(assemblePrompt(broken as unknown as ContentStore, [said(await text('Go'))], target)).rejects.toThrow(
      'disk',
    );
  });
});

describe('the system text', () => {
  it('instructions come first, then how marks are read, then each lane in order, however its texts were gathered [MOD-19, MOD-33]', async () => {
    const texts: ContextText[] = [
      { lane: 'task', name: 'now', text_ref: await text('T') },
      { lane: 'memory', name: 'b', text_ref: await text('B') },
      { lane: 'identity', name: 'who', text_ref: await text('I') },
      { lane: 'memory', name: 'a', text_ref: await text('A') },
      { lane: 'goal', name: 'empty', text_ref: await text(' ') },
    ];
    const instructions = await text('Be brief.');
    const written = async (given: readonly ContextText[]) =>
      systemText(instructions, given, new TranscriptReader(content));
    const expected = `Be brief.\n\n${MARKS_RULE}\n\n# identity: who\n\nI\n\n# memory: a\n\nA\n\n# memory: b\n\nB\n\n# task: now\n\nT`;
    expect(await written(texts)).toBe(expected);
    expect(await written([...texts].reverse())).toBe(expected);
  });
});

describe('a summarized conversation in a prompt', () => {
  it('the summary comes first, then the remaining messages, then the request', async () => {
    const base = await putValue(content, { text: 'They went to Genoa.', tool_calls: [] });
    const parts = [{ kind: 'text' as const, text_ref: await text('And then?') }];
    const { messages } = await project([{ role: 'user', origin: 'input', parts }, await answer('Home.')], {
      base,
      ask: await text('Summarise.'),
    });
    expect(lines(messages)).toEqual([
      'user: <said by="summary of the conversation before this point">\nThey went to Genoa.\n</said> | And then?',
      'assistant: Home.',
      'user: Summarise.',
    ]);
  });

  it('each tool result is shortened to its beginning when the whole was too large', async () => {
    const output_ref = await text('x'.repeat(5_000));
    const result: TranscriptItem = { role: 'tool', call_id: 'c', tool: 'pay', output_ref, is_error: false };
    const { messages } = await project([await asked(), result], { resultBytesMax: 100 });
    expect(lines(messages).at(-1)).toMatch(
      /^tool: x{100}\n\n<said by="runtime">\nShown are 100 of 5000 bytes; sha256:/,
    );
  });
});
