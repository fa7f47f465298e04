/** A world with agents, its sessions over HTTP, and clients of several principals. */
import { randomBytes } from 'node:crypto';
import type { AgentWorld } from '@reprise/agent';
import { connect, type SessionsClient } from '@reprise/client';
import type { Principal } from '@reprise/contracts';
import { memory, type Store } from '@reprise/kernel';
import * as z from 'zod';
import { defineAgent, defineTool, openWorld } from '../../../reprise/src/index.js';
import { scriptBy } from '../../../reprise/src/providers.js';
import { bearerTokens, revocations, type ServeHttpOptions, serveHttp } from '../../src/index.js';

type Answer = Parameters<typeof scriptBy>[0];

/** Says the last message again; `order X` is a call that a person approves. */
const answer: Answer = ({ last }) => {
  const [, what] = /^order (\w+)$/.exec(last) ?? [];
  return what === undefined ? { text: `You said: ${last}` } : { calls: [{ tool: 'order', args: { what } }] };
};

const SECRET = randomBytes(24).toString('hex');

/** How often the tool of the clerk was executed, by its argument. */
export class Orders {
  readonly done: string[] = [];
}

/** Serves the sessions of a world with an agent that answers, and one whose tool a person approves. */
export async function servedSessions(
  options: {
    readonly store?: Store;
    readonly http?: Partial<ServeHttpOptions>;
    readonly policy?: Parameters<typeof openWorld>[0]['policy'];
    readonly answers?: Answer;
  } = {},
) {
  const orders = new Orders();
  const order = defineTool({
    name: 'order',
    description: 'Orders a thing.',
    args: z.strictObject({ what: z.string() }),
    approval: 'always',
    run: ({ what }) => {
      orders.done.push(what);
      return `ordered ${what}`;
    },
  });
  const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' });
  const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Order.', tools: [order] });
  const world = (await openWorld({
    store: options.store ?? memory(),
    agents: [talker, clerk],
    models: { main: scriptBy(options.answers ?? answer) },
    parts: [revocations],
    secrets: async () => SECRET,
    ...(options.policy === undefined ? {} : { policy: options.policy }),
  })) as unknown as AgentWorld;
  const tokens = bearerTokens(world, { secret: 'tokens' });
  const errors: string[] = [];
  const serving = await serveHttp(world, {
    auth: tokens.auth,
    mcp: false,
    sessions: true,
    onError: ({ message }) => errors.push(message),
    ...options.http,
  });
  return {
    world,
    tokens,
    errors,
    orders,
    serving,
    url: serving.url ?? '',
    /** A client that acts as a principal. */
    async as(principal: Principal): Promise<SessionsClient> {
      return connect(serving.url ?? '', { token: await tokens.issue(principal, { for: '1h' }), tries: 2 });
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
      await world.close();
    },
  };
}
