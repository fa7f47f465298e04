/** Tools that wait for what their own call holds up: each is told at once, where it would wait for ever. */
import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type AgentWorld, defineAgent, defineTool, type Run, type Session } from '../../src/index.js';
import { all, play, type Step } from './scene.js';

/** What the tool of a session does, by the key of its session. */
type Act = (scene: {
  readonly world: AgentWorld;
  readonly session: string;
  readonly run: Run;
  of(key: string): Session;
}) => unknown;

const calling: Step = { calls: [{ id: 'c1', tool: 'act' }] };
const DONE: readonly Step[] = [calling, { text: 'Done.' }];

/** A session `a` whose tool does something. @returns what the tools met, and how the run ended */
async function acted(act: Act, steps: readonly Step[] = DONE, late: readonly Promise<unknown>[] = []) {
  const met: string[] = [];
  let begun = (_: { readonly world: AgentWorld; readonly run: Run; of(key: string): Session }): void => undefined;
  const scene = new Promise<Parameters<typeof begun>[0]>((resolve) => {
    begun = resolve;
  });
  const tool = defineTool({
    name: 'act',
    description: 'Acts.',
    args: z.strictObject({}),
    run: async (_, { session }) => {
      try {
        return String(await act({ ...(await scene), session: session.key }));
      } catch (error) {
        met.push(isRepriseError(error) ? error.code : String(error));
        throw error;
      }
    },
  });
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Act.', tools: [tool] });
  const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.', tools: [tool], spawns: [worker] });
  let stop = '';
  let said: readonly string[] = [];
  await play({ agents: [worker, boss], steps }, async ({ world, llm, settle }) => {
    const of = (key: string): Session => world.session(key, boss);
    const run = await of('a').send('Act.');
    begun({ world, run, of });
    stop = (await run.result()).stop.kind;
    await Promise.all(late);
    await settle();
    said = llm.asked.flatMap(({ transcript }) => transcript);
  });
  return { met, stop, said };
}

/** Each way to wait for what the call of the tool holds up. */
const WAITS: readonly (readonly [string, Act])[] = [
  ['the text of its own run', ({ run }) => run.text()],
  ['the result of its own run', ({ run }) => run.result()],
  ['the end of its own run, or its wait', ({ run }) => run.endedOrWaiting()],
  ['the events of its own run', ({ run }) => all(run.events())],
  ['the stream of its own run', ({ run }) => all(run.stream())],
  ['an answer to a message to its own session', async ({ of }) => (await of('a').send('And?')).text()],
  ['all work of its world', ({ world }) => world.pump()],
];

describe('a tool that waits for what its own call holds up', () => {
  it.each(WAITS)(
    'given a tool that waits for %s, the call ends at once with waits_for_itself, and the model reads why',
    async (_, act) => {
      const { met, stop, said } = await acted(act, [...DONE, { text: 'Yes.' }]);
      expect([met, stop]).toEqual([['waits_for_itself'], 'Completed']);
      expect(said.join('\n')).toContain('which waits for that effect');
    },
  );

  it('a tool that waits for its own run, for the session above that waits for its own, or for a session that waits for its own is refused [SES-42]', async () => {
    const own = await acted(({ run }) => run.text());
    const spawn: Step = {
      calls: [
        { id: 's', tool: 'spawn_agent', args: { agent: 'worker', task: 'Act.' } },
        { id: 'w', tool: 'wait_agents', args: { children: ['c1'] } },
      ],
    };
    const below = await acted(({ run }) => run.text(), [spawn, calling, { text: 'Child.' }, { text: 'Done.' }]);
    const each = await acted(
      async ({ session, run, of }) => (session === 'a' ? (await of('b').send('Act.')).text() : run.text()),
      [calling, calling, { text: 'B.' }, { text: 'A.' }],
    );
    const refused = [['waits_for_itself'], 'Completed'];
    expect([own, below, each].map(({ met, stop }) => [met, stop])).toEqual([refused, refused, refused]);
  });

  it('a tool that waits for another session, reads a run that has ended, only sends, or leaves a wait behind is not refused [SES-43]', async () => {
    const late: Promise<string>[] = [];
    const { met, stop, said } = await acted(
      async ({ of }) => {
        const first = await of('b').send('Help.');
        const answer = `${await first.text()} ${await first.text()}`;
        late.push((await of('a').send('Later.')).text());
        return answer;
      },
      [calling, { text: 'Here.' }, { text: 'Done.' }, { text: 'At last.' }],
      late,
    );
    expect([met, stop]).toEqual([[], 'Completed']);
    expect(said.join('\n')).toContain('Here. Here.');
    expect(await Promise.all(late)).toEqual(['At last.']);
  });
});
