/** What a call reserves for its prompt, as an app sees it: what is too large is refused before a model is asked. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Agent, defineAgent, defineTool, type Input, type Session } from '../../src/index.js';
import { play, type Step } from './scene.js';

const LONG = 'x'.repeat(100_000);
const limits = { tokens: 1_000 };
const base = { model: 'main', options: { maxTokens: 60 }, limits } as const;
const plain = defineAgent({ name: 'plain', instructions: 'Be brief.', ...base });
const reader = defineAgent({
  name: 'reader',
  instructions: 'Read.',
  ...base,
  limits: { tokens: 2_000 },
  tools: [
    defineTool({
      name: 'read',
      description: 'Reads.',
      args: z.strictObject({}),
      run: async () => 'line of a file\n'.repeat(900),
    }),
  ],
});

interface Asked {
  readonly agent: Agent;
  readonly steps?: readonly Step[];
  readonly act: (session: Session, settle: () => Promise<void>) => Promise<unknown>;
  readonly asked: number;
  /** How many tokens the call that was refused needs at least. */
  readonly needs: number;
}

async function refuses({ agent, steps = [{ text: 'no' }], act, asked, needs }: Asked): Promise<void> {
  await play({ agents: [agent], steps }, async ({ world, llm, settle }) => {
    const session = world.session('me', agent);
    await act(session, settle);
    await settle();
    expect(llm.asked.length).toBe(asked);
    const reached = [];
    for await (const event of session.events({ follow: false }))
      if (event.type === 'limit.reached') reached.push(event);
    expect(reached).toMatchObject([{ limit: 'max_tokens' }]);
    expect((reached[0] as { readonly needs?: number }).needs).toBeGreaterThanOrEqual(needs);
  });
}

const say = (input: Input) => (session: Session) => session.send(input);

describe('a model call whose prompt is more than is left', () => {
  it('a model call does not begin for a first input of 100,000 characters under 1,000 tokens [LIM-14]', () =>
    refuses({ agent: plain, act: say(LONG), asked: 0, needs: 25_000 }));

  it.each<[what: string, input: Input, needs: number]>([
    ['a file as bytes', { bytes: new TextEncoder().encode(LONG), mediaType: 'text/plain' }, 25_000],
    [
      'the head of a file',
      [{ bytes: new TextEncoder().encode(LONG), mediaType: 'text/plain', view: { head: 8_000 } }],
      2_000,
    ],
    ['an image', { bytes: new Uint8Array(50_000), mediaType: 'image/png' }, 1_600],
    ['text outside ASCII', '語'.repeat(2_000), 1_500],
    ['several parts', Array.from({ length: 10 }, () => 'x'.repeat(500)), 1_250],
  ])('a model call does not begin for %s [LIM-14]', (_what, input, needs) =>
    refuses({ agent: plain, act: say(input), asked: 0, needs }),
  );

  it('a model call does not begin when the instructions or the descriptions of tools are too long [LIM-14]', async () => {
    const told = defineAgent({ name: 'told', instructions: LONG, ...base });
    const tools = Array.from({ length: 8 }, (_, n) =>
      defineTool({ name: `t${n}`, description: 'd'.repeat(1_000), args: z.strictObject({}), run: async () => '' }),
    );
    const armed = defineAgent({ name: 'armed', instructions: '', ...base, tools });
    await refuses({ agent: told, act: say('hi'), asked: 0, needs: 25_000 });
    await refuses({ agent: armed, act: say('hi'), asked: 0, needs: 2_000 });
  });

  it('a model call does not begin behind a tool result that is too long [LIM-14]', () =>
    refuses({ agent: reader, steps: [{ calls: [{ tool: 'read' }] }], act: say('go'), asked: 1, needs: 3_000 }));

  it('a model call does not begin behind a steer or a follow-up that is too long [LIM-14]', async () => {
    const waits = defineAgent({ name: 'waits', instructions: 'Wait.', ...base, afterAnswer: 'wait' });
    for (const say of ['steer', 'followUp'] as const)
      await refuses({
        agent: waits,
        steps: [{ text: 'ready' }],
        act: async (session, settle) => {
          await session.send('hi');
          await settle();
          await session[say](LONG);
        },
        asked: 1,
        needs: 25_000,
      });
  });

  it('a model call begins when prompt and answer fit, and reserves their largest sizes [LIM-14]', () =>
    play({ agents: [plain], steps: [{ text: 'yes' }] }, async ({ world, llm }) => {
      const run = await world.session('me', plain).send('x'.repeat(3_000));
      expect([await run.text(), llm.asked.length]).toEqual(['yes', 1]);
    }));
});
