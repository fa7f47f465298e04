/** The text of an MCP server's answer for the model: everything once, and no file as text. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolContext } from '@reprise/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { cpuMsOf } from '../../../scripts/lib/cpu.js';
import { answerOf } from '../src/mcp/answer/answer.js';
import {
  Intake,
  Lines,
  MESSAGE_BYTES_MAX,
  MESSAGE_DEPTH_MAX,
  MESSAGE_VALUES_MAX,
} from '../src/mcp/transport/intake.js';

const PNG = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), Buffer.alloc(60_000, 7)]);
const BASE64 = PNG.toString('base64');

/** The result of an answer: the model's text, and the files beside it. */
async function read(result: Partial<CallToolResult>) {
  const files: { path: string; bytes: number; mediaType: string }[] = [];
  const put = async ({ path, bytes, mediaType }: { path: string; bytes: Uint8Array; mediaType: string }) => {
    files.push({ path, bytes: bytes.length, mediaType });
    return { path, bytes: bytes.length, media_type: mediaType, blob_ref: `sha256:${files.length}` };
  };
  const answer = (await answerOf({ content: [], ...result } as CallToolResult, 'tool', {
    put,
  } as never as ToolContext)) as {
    readonly parts?: readonly unknown[];
    readonly message?: string;
  };
  const text = (answer.parts ?? [answer.message]).map((part) => {
    if (typeof part === 'string') return part;
    if ('json' in (part as object)) return JSON.stringify((part as { json: unknown }).json);
    return `[file ${(part as { file: { path: string } }).file.path}]`;
  });
  return { text: text.join('\n'), files };
}

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text' as const, text: one }));
const image = { type: 'image' as const, data: BASE64, mimeType: 'image/png' };
const GRAPH = { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }], relations: [] };
const LONG = 'This is the text of a file, long enough to be known again.';

describe('an answer with the same content as text and as data', () => {
  it.each<[string, Partial<CallToolResult>, string]>([
    ['the JSON', { content: text(JSON.stringify(GRAPH)), structuredContent: GRAPH }, JSON.stringify(GRAPH)],
    [
      'the JSON, laid out',
      { content: text(JSON.stringify(GRAPH, null, 2)), structuredContent: GRAPH },
      JSON.stringify(GRAPH, null, 2),
    ],
    [
      'the JSON with its keys in another order',
      { content: text('{"b":1,"a":[2]}'), structuredContent: { a: [2], b: 1 } },
      '{"b":1,"a":[2]}',
    ],
    [
      'a text in a wrapping, as of the filesystem server',
      { content: text(LONG), structuredContent: { content: LONG } },
      LONG,
    ],
    ['a short text in a wrapping', { content: text('ok'), structuredContent: { result: 'ok' } }, 'ok'],
    ['an empty text in a wrapping', { content: text(''), structuredContent: { content: '' } }, ''],
    ['a number in a wrapping', { content: text('42'), structuredContent: { result: 42 } }, '42'],
    [
      'its items, a text each',
      { content: text('{"id":1}', '{"id":2}'), structuredContent: { result: [{ id: 1 }, { id: 2 }] } },
      '{"id":1}\n{"id":2}',
    ],
    [
      'texts that are put together',
      {
        content: text('line one of it', 'line two of it'),
        structuredContent: { content: 'line one of it\nline two of it' },
      },
      'line one of it\nline two of it',
    ],
    [
      'a text and more, as of the memory server',
      {
        content: text('Entities deleted successfully'),
        structuredContent: { success: true, message: 'Entities deleted successfully' },
      },
      'Entities deleted successfully\n{"success":true}',
    ],
    ['the list of a wrapping', { content: text('[1,2]'), structuredContent: { result: [1, 2] } }, '[1,2]'],
    [
      'its text as a resource',
      {
        content: [{ type: 'resource', resource: { uri: 'memo://1', text: LONG } }],
        structuredContent: { text: LONG },
      },
      `[resource memo://1]\n${LONG}`,
    ],
  ])('repeated content is read once: %s', async (_, result, expected) => {
    expect((await read(result)).text).toBe(expected);
  });

  it.each<[string, Partial<CallToolResult>, string]>([
    ['data alone', { structuredContent: { a: 1 } }, '{"a":1}'],
    [
      'data that says more',
      { content: text('Found 2.'), structuredContent: { ids: [1, 2] } },
      'Found 2.\n{"ids":[1,2]}',
    ],
    [
      'a short text that stands in the data by chance',
      { content: text('5'), structuredContent: { a: '5', b: '6' } },
      '5\n{"a":"5","b":"6"}',
    ],
    [
      'a list of which one item is said',
      { content: text('{"id":1}'), structuredContent: { all: [{ id: 1 }, { id: 2 }] } },
      '{"id":1}\n{"all":[{"id":1},{"id":2}]}',
    ],
    ['empty data', { content: text('Done.'), structuredContent: {} }, 'Done.\n{}'],
  ])('content that occurs only once is kept: %s', async (_, result, expected) => {
    expect((await read(result)).text).toBe(expected);
  });

  it('an error without text shows its data', async () => {
    expect((await read({ isError: true, structuredContent: { why: 'no luck' } })).text).toBe('{"why":"no luck"}');
  });
});

describe('an image under another type', () => {
  it('an image of an MCP server is named by its content, and its declared type is passed on [MOD-53]', async () => {
    const data = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]).toString('base64');
    const { files, text: told } = await read({ content: [{ ...image, data }] });
    expect(files).toEqual([{ path: 'tool.jpeg', bytes: 6, mediaType: 'image/png' }]);
    expect(told).toContain('tool.jpeg');
  });
});

describe('an image in an answer', () => {
  it.each<[string, Partial<CallToolResult>, number]>([
    ['as a block', { content: [image] }, 1],
    [
      'as a block and in data, as of the filesystem server',
      { content: [image], structuredContent: { content: [image] } },
      1,
    ],
    ['in data alone', { structuredContent: { content: [image] } }, 1],
    ['as text in data', { content: [image], structuredContent: { picture: BASE64, size: 9 } }, 1],
    ['as text in data alone', { structuredContent: { picture: BASE64, size: 9 } }, 1],
    ['as a text', { content: text(BASE64) }, 1],
    ['as an address', { content: text(`See data:image/png;base64,${BASE64} there`) }, 1],
    ['in lines', { content: text(BASE64.replace(/.{76}/g, '$&\n')) }, 1],
    [
      'in the JSON of a text, and in data',
      { content: text(JSON.stringify({ picture: BASE64 })), structuredContent: { picture: BASE64 } },
      1,
    ],
    [
      'as a resource',
      { content: [{ type: 'resource', resource: { uri: 'a.png', blob: BASE64, mimeType: 'image/png' } }] },
      1,
    ],
    ['as a resource in data', { structuredContent: { blob: BASE64, mimeType: 'image/png', uri: 'a.png' } }, 1],
    ['twenty times', { content: Array.from({ length: 20 }, () => image) }, 16],
  ])('an image is a file, and its base64 is never in the prompt: %s', async (_, result, count) => {
    const { text: told, files } = await read(result);
    expect(told.length).toBeLessThan(600);
    expect(told).not.toContain(BASE64.slice(100, 140));
    expect(files).toHaveLength(count);
    for (const file of files) expect(file).toMatchObject({ bytes: PNG.length, mediaType: 'image/png' });
  });

  it.each([
    ['prose', 'The quick brown fox jumps over the lazy dog. '.repeat(100)],
    ['a hexadecimal number', 'deadbeef0123'.repeat(200)],
    ['one letter', 'x'.repeat(5_000)],
    ['names in lines', Array.from({ length: 300 }, (_, n) => `Name${n * 7919}`).join('\n')],
    ['text as base64', Buffer.from('some text '.repeat(200)).toString('base64')],
    ['a path', `/${'Folder/'.repeat(200)}`],
  ])('text that is not a file stays text: %s', async (_, given) => {
    expect(await read({ content: text(given) })).toEqual({ text: given, files: [] });
  });
});

describe('the bounds on messages of a server', () => {
  const SEED = Number(process.env.REPRISE_SEED ?? 20_260_101);
  const encoder = new TextEncoder();

  /** How much of a text is accepted when it arrives in pieces. */
  const refusal = (bytes: Uint8Array, size: number, ends: 'stream' | 'line' | 'empty line' = 'stream') => {
    const count = new Intake().counter(ends);
    try {
      for (let at = 0; at < bytes.length; at += size) count(bytes.subarray(at, at + size));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it(`the counter accepts any JSON within its bounds, however it is cut (seed ${SEED}) [TOOL-34]`, () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 50 }), (json, size) => {
        expect(refusal(encoder.encode(json), size)).toBeUndefined();
      }),
      { seed: SEED, numRuns: 2_000 / stepOf(4) },
    );
  });

  it.each<[string, string, string]>([
    ['bytes', `"${'x'.repeat(MESSAGE_BYTES_MAX)}"`, 'bytes'],
    ['values', `[${'1,'.repeat(MESSAGE_VALUES_MAX)}1]`, 'values'],
    ['members', `{${'"a":1,'.repeat(MESSAGE_VALUES_MAX / 2)}"a":1}`, 'values'],
    ['depth', '['.repeat(MESSAGE_DEPTH_MAX + 1), 'deeper'],
    ['values behind a text with quotes', `["\\"\\\\",${'1,'.repeat(MESSAGE_VALUES_MAX)}1]`, 'values'],
  ])('the counter refuses JSON beyond a bound, however it is cut: %s [TOOL-34]', (_, json, why) => {
    for (const size of [997, 65_536]) expect(refusal(encoder.encode(json), size)).toContain(why);
  });

  it('brackets inside strings are not counted, and each message starts a new count [TOOL-34]', () => {
    const within = `"${',[{'.repeat(MESSAGE_VALUES_MAX)}"`;
    expect(refusal(encoder.encode(within), 4_096)).toBeUndefined();
    const messages = `${`{"a":"${'x'.repeat(MESSAGE_BYTES_MAX / 2)}"}\n`.repeat(4)}`;
    expect(refusal(encoder.encode(messages), 65_536, 'line')).toBeUndefined();
    expect(refusal(encoder.encode(messages), 65_536, 'empty line')).toContain('bytes');
    expect(refusal(encoder.encode(messages.replaceAll('\n', '\n\n')), 65_536, 'empty line')).toBeUndefined();
    expect(refusal(encoder.encode(messages.replaceAll('\n', '\r')), 65_536, 'line')).toContain('bytes');
  });

  it('a mutant that forgets the message between two pieces accepts a message that is too large', () => {
    const json = encoder.encode(`[${'1,'.repeat(MESSAGE_VALUES_MAX)}1]`);
    const forgetful = () => {
      for (let at = 0; at < json.length; at += 1_000) new Intake().counter('stream')(json.subarray(at, at + 1_000));
    };
    expect(forgetful).not.toThrow();
    expect(refusal(json, 1_000)).toContain('values');
  });

  it('lines of a pipe are reassembled, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 20 })),
        fc.integer({ min: 1, max: 9 }),
        (given, size) => {
          const wanted = given.map((line) => line.replace(/[\r\n]/g, '').replace(/\p{Surrogate}/gu, ''));
          const bytes = encoder.encode(wanted.map((line) => `${line}\n`).join(''));
          const lines = new Lines();
          const found: string[] = [];
          for (let at = 0; at < bytes.length; at += size) found.push(...lines.take(bytes.subarray(at, at + size)));
          expect(found).toEqual(wanted);
        },
      ),
      { seed: SEED, numRuns: 1_000 / stepOf(4) },
    );
  });
});

describe('a text of some million characters', () => {
  const MB = 1024 * 1024;
  it.each([
    ['one run of letters', 'x'.repeat(14 * MB)],
    ['runs of letters that are just too short for a file', `${'A'.repeat(511)} `.repeat(28 * 1024)],
    ['lines of one letter', 'A\n'.repeat(7 * MB)],
    ['line breaks', '\n'.repeat(14 * MB)],
    ['beginnings of data URLs', 'data:image/png;a'.repeat(MB - 1)],
    ['the fields of one data URL', `data:image/png${';a'.repeat(7 * MB)}`],
  ])('a long text is read unchanged, in linear time: %s [TOOL-34]', async (_, long) => {
    const cost = await cpuMsOf(async () => expect((await read({ content: text(long) })).text.length).toBe(long.length));
    expect(cost).toBeLessThan(5_000);
  });

  it('base64 of a file in a long text becomes a file [TOOL-35]', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(8 * MB, 7)]);
    const found = await read({ content: text(`Look: data:image/png;base64,${large.toString('base64')} There.`) });
    expect(found.files).toEqual([{ path: 'tool.png', bytes: large.length, mediaType: 'image/png' }]);
    expect(found.text).toContain(`Look: [${large.length} bytes of image/png, shown as a file] There.`);
  });
});
