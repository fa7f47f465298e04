/** An image that a provider refuses: the error names it, and the conversation goes on when it is taken out. */
import { defineAgent, isRepriseError, memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { pdfOf, pngOf } from './media.js';
import { FORMATS, type FormatName, formatClient, mediaIn, type Reply } from './support/format-servers.js';

const agent = defineAgent({ name: 'a', model: 'main', instructions: '' });

/** The words and places that the providers publish for images that they cannot read. */
const REFUSALS: Readonly<Record<FormatName, { readonly refuse: string; readonly param: string }>> = {
  'openai-chat': { refuse: 'You uploaded an unsupported image.', param: 'messages[3].content[1].image_url.url' },
  'openai-responses': {
    refuse: 'The image data you provided does not represent a valid image.',
    param: 'input[2].content[1].image_url',
  },
  'anthropic-messages': { refuse: 'Could not process image', param: 'messages.2.content.1.image.source.base64.data' },
};

const BAD = pngOf({ width: 7 });
const GOOD = pngOf();

/** A world whose provider refuses one image. */
function refusing(name: FormatName, refusal: Reply & { readonly refuse: string } = REFUSALS[name]) {
  const isBad = (body: unknown) => mediaIn(body).some(({ bytes }) => Buffer.compare(bytes, BAD) === 0);
  return formatClient(name, (body) => (isBad(body) ? refusal : { text: 'ok' }));
}

describe.each(Object.keys(FORMATS) as FormatName[])('an image that %s refuses', (name) => {
  it('a refused image is named by the error, with the call that takes it out, and later runs complete without it [MOD-58, SES-40]', async () => {
    const store = memory();
    const { client, sent } = refusing(name);
    let digest = '';
    {
      await using world = await openWorld({ store, models: { main: client }, agents: [agent] });
      const session = world.session('s', agent);
      await (await session.send(['See', { bytes: GOOD, mediaType: 'image/png', name: 'good.png' }])).result();
      const run = await session.send(['And', { bytes: BAD, mediaType: 'image/png', name: 'bad.png' }]);
      const { stop, error } = await run.result();
      expect(stop).toMatchObject({ kind: 'Failed', code: 'provider_error_terminal/media_refused' });
      expect(error?.message).toContain(REFUSALS[name].refuse);
      expect(error?.message).toContain(`the image "bad.png" (image/png, ${BAD.length} bytes) in message`);
      expect(error?.message).not.toContain('good.png');
      [, digest = ''] = /session\.drop\("(sha256:[0-9a-f]{64})"\)/.exec(error?.message ?? '') ?? [];
      const thrown: unknown = await run.text().catch((failed: unknown) => failed);
      expect(String(thrown)).toContain(`session.drop("${digest}")`);
      expect((await (await session.send('Without dropping it?')).result()).stop.kind).toBe('Failed');
    }
    await using world = await openWorld({ store, models: { main: client }, agents: [agent] });
    const session = world.session('s', agent);
    expect(await session.drop(digest)).toMatchObject({ status: 'accepted' });
    expect(await session.drop(digest)).toMatchObject({ status: 'rejected', code: 'already_dropped' });
    expect((await (await session.retry()).result()).stop.kind).toBe('Completed');
    expect((await (await session.send('Next')).result()).stop.kind).toBe('Completed');
    expect(mediaIn(sent.at(-1)).map(({ bytes }) => bytes)).toEqual([Buffer.from(GOOD)]);
    expect(JSON.stringify(sent.at(-1))).toContain('it was taken out of this conversation');
  });

  it('a refused image is one of those that the error names, when the provider does not say which it means [MOD-59]', async () => {
    const { client } = refusing(name, { refuse: 'invalid image' });
    await using world = await openWorld({ store: memory(), models: { main: client }, agents: [agent] });
    const input = [
      { bytes: BAD, mediaType: 'image/png', name: 'bad.png' },
      { bytes: pdfOf(), mediaType: 'application/pdf', name: 'good.pdf' },
    ];
    const { error } = await (await world.session('s', agent).send(input)).result();
    expect(error?.message).toMatch(/One of these can be left out: the image "bad\.png".*; the file "good\.pdf"/);
  });

  it('a refusal about something else stays as it is', async () => {
    const { client } = refusing(name, { refuse: 'temperature must be lower', code: 'invalid_value' });
    await using world = await openWorld({ store: memory(), models: { main: client }, agents: [agent] });
    const input = { bytes: BAD, mediaType: 'image/png', name: 'bad.png' };
    const { stop, error } = await (await world.session('s', agent).send(input)).result();
    expect(stop).toMatchObject({ code: 'provider_error_terminal/bad_request' });
    expect(error?.message).toBe('temperature must be lower');
  });
});

describe('session.drop', () => {
  it('session.drop refuses a digest that no file and no image of the conversation has [SES-41]', async () => {
    const { client } = refusing('openai-chat');
    await using world = await openWorld({ store: memory(), models: { main: client }, agents: [agent] });
    const session = world.session('s', agent);
    await (await session.send('Hi')).result();
    for (const part of [`sha256:${'0'.repeat(64)}`, 'bad.png', 7 as never, undefined as never])
      await expect(session.drop(part)).rejects.toSatisfy((error) => isRepriseError(error, 'invalid_argument'));
  });
});
