/** The text of a provider's error as the app sees it: without secrets, in every place where errors appear. */
import { type AgentEvent, defineAgent, memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { openAiCompatible } from '../src/index.js';

const KEY = 'sk-very-secret-key-of-ann-0123456789';
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Answer.' });
const KEPT = {
  name: 'ProviderError',
  message: 'Incorrect API key provided: [secret].',
  code: 'bad_key',
  ...{ status: 401, server: 'models.example' },
};

/** A server that refuses the key and echoes it. */
const main = openAiCompatible({
  baseUrl: 'https://models.example/v1',
  model: 'small',
  apiKey: KEY,
  fetch: async () =>
    Response.json({ error: { code: 'bad_key', message: `Incorrect API key provided: ${KEY}.` } }, { status: 401 }),
});

describe('the text of a provider error', () => {
  it('the provider error is in the event, the outcome and the cause, without the key, also after a restart [EFF-24, CON-16]', async () => {
    const store = memory();
    const told = async (act: 'send' | 'again') => {
      await using world = await openWorld({ store, models: { main }, agents: [clerk] });
      const session = world.session('desk', clerk);
      const run = act === 'send' ? await session.send('Hello.', { id: 'm' }) : await session.run(0);
      if (run === undefined) throw new Error('no run');
      const events: AgentEvent[] = [];
      for await (const event of run.events()) events.push(event);
      const { stop, error } = await run.result();
      const thrown: unknown = await run.text().catch((failed: unknown) => failed);
      return { stop, error, thrown: thrown as Error, event: events.find(({ type }) => type === 'llm_step.failed') };
    };
    for (const act of ['send', 'again'] as const) {
      const { stop, error, thrown, event } = await told(act);
      expect(stop).toMatchObject({ kind: 'Failed', code: 'provider_error_terminal/auth' });
      expect(error).toEqual(KEPT);
      expect(event).toMatchObject({ error: KEPT });
      expect(thrown).toMatchObject({ code: 'run_failed' });
      const cause = thrown.cause as Error;
      expect(cause).toBeInstanceOf(Error);
      expect({ ...cause, message: cause.message }).toEqual(KEPT);
      expect(JSON.stringify([error, event]) + thrown.message + String(thrown.cause)).not.toContain(KEY);
    }
  });
});
