/** Options of model clients and of a world that callers without types get wrong: refused at once, in words, without a key. */
import { memory, type RepriseError } from '@reprise/kernel';
import { openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses, script } from '../src/index.js';
import { run } from './harness.js';

const baseUrl = 'http://provider.test/v1';

/** The three clients over HTTP, each made with some options. */
const CLIENTS: [string, (model: never, options: never) => ModelClient][] = [
  ['openAiCompatible', (model, options) => openAiCompatible({ baseUrl, model, ...(options as object) })],
  ['openAiResponses', (model, options) => openAiResponses(model, options)],
  ['anthropicMessages', (model, options) => anthropicMessages(model, options)],
];

function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    return `${(error as RepriseError).code}: ${(error as Error).message}`;
  }
  return 'made';
}

describe.each(CLIENTS)('the options of %s', (_name, make) => {
  const made = (model: unknown, options: object = {}) => make(model as never, options as never);

  it.each([
    ['an object in place of the model’s name', { model: 'm' }, {}, 'the name of a model'],
    ['no model', undefined, {}, 'the name of a model'],
    ['headers as text', 'm', { headers: 'x-key: sk-secret' }, 'at headers'],
    ['a header that is a number', 'm', { headers: { 'x-key': 7 } }, 'at headers.x-key'],
    ['a key that is a list', 'm', { apiKey: ['sk-secret'] }, 'at apiKey'],
    ['a misspelled option', 'm', { timeout: 'sk-secret' }, 'unknown option "timeout"'],
    ['an empty key', 'm', { apiKey: '' }, 'the API key of a model client is empty; at apiKey'],
    ['a key of blanks', 'm', { apiKey: ' \n' }, 'the API key of a model client is empty; at apiKey'],
    ['a secret without a name', 'm', { apiKey: { secret: '' } }, 'the API key of a model client is empty; at apiKey'],
    ['a key that a template made of no value', 'm', { apiKey: 'undefined' }, 'is the name of a value that is absent'],
    ['a key with its scheme', 'm', { apiKey: 'Bearer sk-secret' }, 'begins with the word Bearer; at apiKey'],
    ['a key in quotation marks', 'm', { apiKey: '"sk-secret"' }, 'stands between quotation marks; at apiKey'],
    ['a key in typographic marks', 'm', { apiKey: '“sk-secret”' }, 'has a character that no header can carry'],
    ['a key on two lines', 'm', { apiKey: 'sk-secret\nsk-secret' }, 'has a character that no header can carry'],
    ['a key that is a number', 'm', { apiKey: 7 }, 'is no text (number); at apiKey'],
    ['a fetch that is no function', 'm', { fetch: 'sk-secret' }, 'at fetch'],
  ])('%s is refused when the client is made', (_what, model, options, place) => {
    const text = refusal(() => made(model, options));
    expect(text).toMatch(/^invalid_argument: /);
    expect(text).toContain(place);
    expect(text).not.toContain('sk-secret');
  });

  it.each([
    ['a Headers object', (headers: Record<string, string>) => new Headers(headers)],
    ['a map', (headers: Record<string, string>) => new Map(Object.entries(headers))],
    ['pairs', (headers: Record<string, string>) => Object.entries(headers)],
  ])('headers that are given as %s are sent', async (_what, given) => {
    const sent: (string | null)[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('x-gateway'));
      return new Response('{}', { status: 400 });
    };
    await run(made('m', { fetch, headers: given({ 'x-gateway': 'eu' }) }));
    expect(sent).toEqual(['eu']);
  });
});

describe('the address of a client', () => {
  it.each([
    ['/chat/completions', (url: string) => openAiCompatible({ baseUrl: url, model: 'm' })],
    ['/responses', (url: string) => openAiResponses('m', { baseUrl: url })],
    ['/messages', (url: string) => anthropicMessages('m', { baseUrl: url, maxTokens: 1 } as never)],
  ])('an address that already ends in %s is refused, since the client adds it', (operation, make) => {
    for (const end of [operation, `${operation}/`])
      expect(refusal(() => make(`${baseUrl}${end}`))).toContain(
        `the address of one operation; at baseUrl; expected an address to which the client adds ${operation}. Leave ${operation} out.`,
      );
    expect(refusal(() => make(`${baseUrl}${operation}/v1`))).toBe('made');
  });

  it('a key with a line end behind it is sent without it', async () => {
    const sent: (string | null)[] = [];
    const fetch = async (_url: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return new Response('{}', { status: 400 });
    };
    await run(openAiCompatible({ baseUrl, model: 'm', apiKey: 'sk-1\n', fetch }));
    expect(sent).toEqual(['Bearer sk-1']);
  });
});

describe('the options of openWorld', () => {
  const models = { main: script({ text: 'x' }) };

  it.each([
    ['no options', undefined, 'at options'],
    ['no models', { store: memory() }, 'at models'],
    ['an alias without a model', { store: memory(), models: { main: undefined } }, 'at models.main'],
    ['a model by its name', { store: memory(), models: { main: 'gpt' } }, 'at models.main'],
    [
      'a model of the AI SDK that is not wrapped',
      { store: memory(), models: { main: { modelId: 'm' } } },
      'at models.main',
    ],
    ['an agent that is missing', { store: memory(), models, agents: [undefined] }, 'at agents[0]'],
    ['an agent’s options', { store: memory(), models, agents: [{ name: 'a' }] }, 'at agents[0]'],
    ['agents by their names', { store: memory(), models, agents: { a: {} } }, 'a list of agents'],
    ['tools by their names', { store: memory(), models, tools: { a: {} } }, 'a list of tools'],
    ['a tool’s options', { store: memory(), models, tools: [{ name: 'a' }] }, 'at tools[0]'],
  ])('%s are refused in words', async (_what, options, place) => {
    const error: RepriseError = await openWorld(options as never).then(
      () => 'opened' as never,
      (thrown) => thrown,
    );
    expect(error.code).toMatch(/^invalid_(argument|definition)$/);
    expect(error.message).toContain(place);
  });

  it('an agent that is missing is refused by `define` and `session`', async () => {
    await using world = await openWorld({ store: memory(), models, agents: [] });
    await expect(world.define(undefined as never)).rejects.toMatchObject({ code: 'invalid_definition' });
    expect(refusal(() => world.session('s', undefined as never))).toMatch(/^unknown_agent: /);
  });
});
