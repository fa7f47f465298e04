/** What is reported of failures that end nothing: code of the app that is asked about a call, models of the AI SDK. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { runWaiting } from '../../../agent/src/session/run/run-wait.js';
import { reportOnce } from '../../src/history.js';
import { defineAgent, defineTool, openWorld } from '../../src/index.js';
import { memory } from '../../src/kernel.js';
import { aiSdk, scriptBy } from '../../src/providers.js';

const args = z.strictObject({ text: z.string() });
const answer = () =>
  scriptBy(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'Done.' }
      : { calls: [{ tool: 'note', args: { text: 'x' } }] },
  );

const fails = (what: string) => (): never => {
  throw new Error(`${what} is broken`);
};

/** Runs one call of a tool. @returns what was reported, what stood on standard error, and how the run ended */
async function reported(tool: object, agent: object = {}) {
  const note = defineTool({ name: 'note', description: 'Notes a text.', args, run: () => 'Noted.', ...tool });
  const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [note], ...agent });
  const [codes, lines]: [string[], string[]] = [[], []];
  const write = reportOnce((line) => lines.push(line));
  await using world = await openWorld({
    ...{ store: memory(), models: { main: answer() }, agents: [clerk] },
    onError: (error, origin) => {
      codes.push(`${(error as { code?: string }).code}: ${((error as Error).cause as Error | undefined)?.message}`);
      write(error, origin);
    },
  });
  const run = await world.session('desk', clerk).send('Go.', { id: 'm-1' });
  const { status } = await run.endedOrWaiting();
  const pending = await world.pending();
  const parts = { world: world.kernel, pending: async () => pending };
  const said = status === 'waiting' ? (await runWaiting(parts, run.id, 'desk')).message : undefined;
  return { codes, lines, status, said, pending };
}

describe('code of the app that fails while a call is judged', () => {
  it('an approval rule that throws is reported with its words, makes the call wait, and the wait has its reason [TOOL-57]', async () => {
    const { codes, lines, said, pending } = await reported({ approval: fails('the rule') });
    expect(codes).toEqual(['definition_failed: the rule is broken']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/the approval rule of note failed.*the rule is broken.*\[definition_failed\]/);
    expect(said).toContain('The approval rule of note could not be asked: the rule is broken');
    expect(pending.map(({ tool }) => tool)).toEqual(['note']);
  });

  it('a resource, a schema and a context source that throw are reported as well, and the run goes on [TOOL-57]', async () => {
    const broken = args.transform(fails('the schema'));
    const parts = [
      await reported({ resource: fails('the resource') }),
      await reported({ args: broken, description: 'Notes.' }),
      await reported({}, { context: [{ lane: 'memory', name: 'weather', load: fails('the source') }] }),
    ];
    expect(parts.map(({ codes }) => codes[0])).toEqual([
      'definition_failed: the resource is broken',
      'definition_failed: the schema is broken',
      'definition_failed: the source is broken',
    ]);
    expect(parts.map(({ status }) => status)).toEqual(['ended', 'ended', 'ended']);
  });

  it('code that works is not reported, whatever it decides [TOOL-57]', async () => {
    for (const approval of ['never', 'always', () => false, () => ({ reason: 'Because.' })])
      expect((await reported({ approval })).codes).toEqual([]);
  });
});

describe('a model of the AI SDK that fails', () => {
  /** A model of the SDK whose calls throw this. */
  const failing = (error: unknown) =>
    aiSdk(
      {
        specificationVersion: 'v3',
        provider: 'acme.chat',
        modelId: 'small',
        doGenerate: () => Promise.reject(error),
        doStream: () => Promise.reject(error),
      },
      { retry: { retriesMax: 0 } },
    );

  it.each([
    { url: 'https://api.acme.example/v1/chat', server: 'api.acme.example' },
    { url: undefined, server: 'acme.chat' },
    { url: 'no address', server: 'acme.chat' },
  ])('the failure names its server [MOD-35]: $server for $url', async ({ url, server }) => {
    const error = Object.assign(new Error('Incorrect API key'), { name: 'AI_APICallError', statusCode: 401, url });
    const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.' });
    const lines: string[] = [];
    await using world = await openWorld({
      ...{ store: memory(), models: { main: failing(error) }, agents: [clerk] },
      onError: reportOnce((line) => lines.push(line)),
    });
    await (await world.session('desk', clerk).send('Go.')).result();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`Incorrect API key (${server}, status 401) [provider_error_terminal/auth]`);
    expect(await world.trouble()).toMatchObject([{ kind: 'service_failing', where: 'acme.chat', error: { server } }]);
  });

  it('a session lists the service that it waits for, and another session does not [SES-38]', async () => {
    const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.' });
    const down = failing(new TypeError('fetch failed'));
    await using world = await openWorld({
      ...{ store: memory(), agents: [clerk], onError: () => undefined },
      models: {
        main: { ...down, generate: (request, context) => hanging(down.generate(request, context), context.signal) },
      },
    });
    const [desk, other] = [world.session('desk', clerk), world.session('other', clerk)];
    await desk.send('Go.');
    await expect.poll(async () => (await world.trouble()).length).toBe(1);
    const [one] = await world.trouble();
    const cells = one?.kind === 'service_failing' ? one.cells : [];
    expect(await desk.trouble()).toHaveLength(cells.length);
    expect(await other.trouble()).toEqual([]);
  });
});

/** A failure after which the call stays open until it is told to stop. */
async function hanging<T>(failed: Promise<T>, signal: AbortSignal): Promise<T> {
  const result = await failed;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return result;
}
