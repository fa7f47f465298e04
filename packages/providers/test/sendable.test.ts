/** Images and files that enter a session on every path: what is sent of them, in each format. */

import { toolParts } from '@reprise/agent';
import fc from 'fast-check';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../conformance/part.js';
import { ANY_MEDIA, carries, IMAGES_AND_PDF, SENDABLE } from '../src/model/sendable.js';
import { readPicture } from '../src/prompt/picture.js';
import { gifOf, pngOf, UNSENDABLE, WHOLE } from './media.js';
import { FORMATS, type FormatName, formatClient, mediaIn } from './support/format-servers.js';

const NAMES = Object.keys(FORMATS) as FormatName[];
const DECLARED = [
  ...IMAGES_AND_PDF,
  'image/heic',
  'image/svg+xml',
  'text/plain',
  'application/octet-stream',
  'audio/mpeg',
];
const RUNS = Number(process.env.SENDABLE_RUNS ?? 12 / stepOf(3));
const SEED = 640;

interface File {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** Ways by which a file enters a session. */
const PATHS = ['bytes', 'ref', 'artifact', 'tool', 'stream'] as const;
type Path = (typeof PATHS)[number];

/** Sends a file on a path, then another message, and returns the bodies of all requests. */
async function sendOn(name: FormatName, path: Path, { bytes, mediaType }: File) {
  const give = defineTool({
    name: 'give',
    description: 'Gives.',
    args: z.strictObject({}),
    run: async (_args, ctx) => {
      async function* pieces() {
        for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3);
      }
      const file = await ctx.put({ path: 'x.bin', bytes: path === 'stream' ? pieces() : bytes, mediaType });
      return toolParts('Here.', { file });
    },
  });
  const agent = defineAgent({ name: 'a', model: 'main', instructions: '', tools: [give] });
  const { client, sent } = formatClient(name, (body) => {
    const isCalled = JSON.stringify(body).includes('c1');
    return (path === 'tool' || path === 'stream') && !isCalled ? { call: 'give' } : { text: 'ok' };
  });
  await using world = await openWorld({ store: memory(), models: { main: client }, agents: [agent] });
  const session = world.session('s', agent);
  const ref = await world.kernel.content.put(bytes);
  const artifact = { blob_ref: ref, path: 'x.bin', media_type: mediaType, bytes: bytes.length };
  const part =
    path === 'bytes'
      ? { bytes, mediaType, name: 'x.bin' }
      : path === 'ref'
        ? { ref, mediaType, name: 'x.bin' }
        : path === 'artifact'
          ? { artifact }
          : 'Give it.';
  const stops = [];
  for (const input of [part, 'And now?']) stops.push((await (await session.send(input)).result()).stop.kind);
  const transcript = [];
  for await (const item of session.transcript()) transcript.push(item);
  return { sent, stops, transcript };
}

/** What the first bytes of a file say, as a provider looks at them. */
function kindOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF.{4}WEBP/s.test(start)) return 'image/webp';
  return start.startsWith('%PDF-') ? 'application/pdf' : undefined;
}

describe.each(NAMES)('a file in a request of %s', (name) => {
  it.each(Object.keys(WHOLE))(
    'a file is sent under the type of its content when it is %s and declared as another [MOD-53]',
    async (type) => {
      const bytes = WHOLE[type] ?? new Uint8Array();
      for (const mediaType of IMAGES_AND_PDF.filter((other) => other !== type).slice(0, 2)) {
        const { sent, stops, transcript } = await sendOn(name, 'bytes', { bytes, mediaType });
        expect(stops).toEqual(['Completed', 'Completed']);
        expect(mediaIn(sent.at(-1))).toEqual([{ type, bytes: Buffer.from(bytes) }]);
        expect(transcript[0]).toMatchObject({ parts: [{ media_type: type, declared_type: mediaType }] });
      }
    },
  );

  it.each(Object.keys(UNSENDABLE))(
    'a file is named in words when it is %s and declared as an image [MOD-54]',
    async (what) => {
      const bytes = UNSENDABLE[what] ?? new Uint8Array();
      const { sent, stops } = await sendOn(name, 'bytes', { bytes, mediaType: 'image/png' });
      expect(stops).toEqual(['Completed', 'Completed']);
      expect(mediaIn(sent.at(-1))).toEqual([]);
      expect(JSON.stringify(sent.at(-1))).toMatch(
        new RegExp(`\\[file \\\\"x.bin\\\\": .*, ${bytes.length} bytes, sha256:`),
      );
    },
  );

  it(`a file is sent under its own type or named in words, on every path, whatever it is and was declared as (seed ${SEED}) [MOD-55]`, async () => {
    const known = [...Object.values(WHOLE), ...Object.values(UNSENDABLE)];
    const cut = fc.tuple(fc.constantFrom(...known), fc.nat({ max: 80 })).map(([bytes, at]) => bytes.subarray(0, at));
    const bytes = fc.oneof(fc.constantFrom(...known), cut, fc.uint8Array({ maxLength: 40 }));
    const cases = fc.tuple(fc.constantFrom(...PATHS), fc.record({ bytes, mediaType: fc.constantFrom(...DECLARED) }));
    await fc.assert(
      fc.asyncProperty(cases, async ([path, file]) => {
        const { sent, stops } = await sendOn(name, path, file);
        expect(stops).toEqual(['Completed', 'Completed']);
        for (const body of sent) for (const media of mediaIn(body)) expect(kindOf(media.bytes)).toBe(media.type);
        const words = JSON.stringify(sent.at(-1));
        expect(mediaIn(sent.at(-1)).length > 0 || words.includes('x.bin')).toBe(true);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe('the table of what formats carry', () => {
  it('the table says for each format, place and type whether a part is sent, and the requests keep to it [MOD-56]', async () => {
    expect(Object.keys(SENDABLE)).toEqual([...NAMES, 'ai-sdk']);
    expect(SENDABLE['ai-sdk'].user).toBe(ANY_MEDIA);
    for (const name of NAMES) {
      for (const [type, bytes] of Object.entries(WHOLE)) {
        for (const [place, path] of [
          ['user', 'bytes'],
          ['result', 'tool'],
        ] as const) {
          const { sent } = await sendOn(name, path, { bytes, mediaType: type });
          const types = mediaIn(sent.at(-1)).map((media) => media.type);
          expect(types, `${name} ${place} ${type}`).toEqual(carries(SENDABLE[name], place, type) ? [type] : []);
        }
      }
    }
  });

  it('images are bounded by format: size in bytes and pixels, and animation [MOD-57]', async () => {
    const shown = async (name: FormatName, bytes: Uint8Array, mediaType: string) => {
      const { sent, stops } = await sendOn(name, 'bytes', { bytes, mediaType });
      expect(stops).toEqual(['Completed', 'Completed']);
      return mediaIn(sent.at(-1)).length;
    };
    expect(await shown('openai-chat', gifOf({ frames: 2 }), 'image/gif')).toBe(0);
    expect(await shown('anthropic-messages', gifOf({ frames: 2 }), 'image/gif')).toBe(1);
    expect(await shown('anthropic-messages', pngOf({ width: 8_001 }), 'image/png')).toBe(0);
    expect(await shown('anthropic-messages', pngOf({ width: 8_000 }), 'image/png')).toBe(1);
    expect(await shown('anthropic-messages', pngOf({ bytes: 3_932_161 }), 'image/png')).toBe(0);
    expect(await shown('openai-responses', pngOf({ bytes: 3_932_161 }), 'image/png')).toBe(1);
  });
});

describe('the structure of an image', () => {
  it('an image has its end when it is whole, and none of its beginnings has one', () => {
    for (const [type, bytes] of Object.entries(WHOLE)) {
      if (type === 'application/pdf') continue;
      expect(readPicture(type, bytes)).toMatchObject({ width: 1, height: 1 });
      for (let length = 0; length < bytes.length - 2; length++)
        expect(readPicture(type, bytes.subarray(0, length)), `${type} ${length}`).toHaveProperty('why');
    }
  });

  it('the structure of an image is read from any bytes without an exception', () => {
    const start = fc.constantFrom(...Object.values(WHOLE));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 40 }), (whole, noise, at) => {
        const bytes = Uint8Array.from(whole);
        bytes.set(noise.subarray(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
        for (const type of IMAGES_AND_PDF) readPicture(type, bytes);
      }),
      { seed: SEED },
    );
  });
});
