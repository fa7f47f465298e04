/** A world whose sessions are served over AG-UI, with an agent that does all that a stream can tell of. */
import { randomBytes } from 'node:crypto';
import type { AgentWorld } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import { memory, type Store } from '@reprise/kernel';
import * as z from 'zod';
import { defineAgent, defineTool, openWorld } from '../../../../reprise/src/index.js';
import { type ModelClient, scriptBy } from '../../../../reprise/src/providers.js';
import { askHuman } from '../../../../reprise/src/tools.js';
import { bearerTokens, revocations, type ServeHttpOptions, serveHttp } from '../../../src/index.js';
import { RecordingAgent } from './client.js';

const SECRET = randomBytes(24).toString('hex');

/** Says the last message again; `pay N` is a call, which a person approves for more than 100; `ask` asks a person. */
export const talker: ModelClient = scriptBy(({ last }) => {
  const [, cents] = /^pay (\d+)$/.exec(last) ?? [];
  if (cents !== undefined) return { text: 'One moment.', calls: [{ tool: 'pay', args: { cents: Number(cents) } }] };
  if (last === 'ask') return { calls: [{ tool: 'ask_human', args: { question: 'Which one?' } }] };
  if (last === 'fail') return { fail: 'provider_error_terminal/refused' };
  return { text: `You said: ${last}` };
});

interface WorldOptions {
  readonly store?: Store;
  readonly model?: ModelClient;
  readonly http?: Partial<ServeHttpOptions>;
  readonly policy?: Parameters<typeof openWorld>[0]['policy'];
}

/** Serves a world over AG-UI. */
export async function agUiWorld({ store = memory(), model = talker, http = {}, policy }: WorldOptions = {}) {
  const paid: number[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    args: z.strictObject({ cents: z.int() }),
    approval: ({ args }) => args.cents > 100,
    run: ({ cents }) => {
      if (cents === 13) throw new Error('no luck');
      paid.push(cents);
      return `Paid ${cents}.`;
    },
  });
  const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.', tools: [pay] });
  const clerk = defineAgent({
    name: 'clerk',
    model: 'main',
    instructions: 'Work.',
    tools: [pay, askHuman()],
    spawns: [helper],
  });
  const other = defineAgent({ name: 'other', model: 'main', instructions: 'Talk.' });
  const agents = [clerk, helper, other] as const;
  const world = (await openWorld({
    store,
    agents,
    models: { main: model },
    parts: [revocations],
    secrets: async () => SECRET,
    ...(policy === undefined ? {} : { policy }),
  })) as unknown as AgentWorld;
  const tokens = bearerTokens(world, { secret: 'tokens' });
  const errors: string[] = [];
  const serving = await serveHttp(world, {
    auth: tokens.auth,
    mcp: false,
    agUi: true,
    limits: { perSecond: 100_000, burst: 100_000 },
    onError: ({ message }) => errors.push(message),
    ...http,
  });
  const url = new URL('/ag-ui', serving.url).href;
  return {
    world,
    clerk,
    tokens,
    errors,
    paid,
    serving,
    url,
    /** A client of a person. */
    async as(principal: Principal, threadId: string, agent = 'clerk'): Promise<RecordingAgent> {
      const token = await tokens.issue(principal, { for: '1h' });
      return new RecordingAgent({ url: `${url}/${agent}`, token, threadId });
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
      await world.close();
    },
  };
}
