/** A society that is served over HTTP and on pipes, and real clients of it, which check each answer by the tool's schema. */
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { type AnyAgent, memory, openWorld } from 'reprise';
import type { Principal } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import { bearerTokens, serveHttp, serveStdio } from 'reprise/server';
import type { KeyVault, SocietyOptions } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { failingSociety } from '../../../../conformance/society/failing.js';
import { pipes } from '../../../server/test/support/stage.js';
import { memoryVault } from '../../src/adapters/vault.js';
import type { SocietyToolName } from '../../src/pure/index.js';

/** What a tool answered: data in the form of its schema, or a refusal. */
export interface Told {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the data of any tool; the client has checked it by the tool's schema
  readonly data: any;
}

/** A client that acts as one principal. */
export interface Caller {
  readonly client: Client;
  call(tool: SocietyToolName, args?: object): Promise<Told>;
}

type Model = Parameters<typeof scriptBy>[0];

/** What a test may choose of its world. */
export interface ServedOptions {
  readonly model?: Model;
  readonly agents?: readonly AnyAgent[];
  readonly society?: SocietyOptions;
}

/** The principal of an agent. */
export const agentAs = (id: string): Principal => `cell:society/Entity@1/${id}`;

/** Opens a world, serves it, and keeps all that its clients were told. */
export async function openServed({ model = () => ({ text: 'Done.' }), agents = [], society = {} }: ServedOptions = {}) {
  const keys: KeyVault = memoryVault();
  const clock = new VirtualClock();
  const secret = randomBytes(24).toString('hex');
  const part = failingSociety({ keys, tokens: (world) => bearerTokens(world, { secret: 'mcp' }), ...society });
  const main = scriptBy(model);
  const options = { store: memory(), clock, models: { main }, agents: [...agents], parts: [part] };
  const world = await openWorld({ ...options, secrets: async () => secret });
  const tokens = bearerTokens(world, { secret: 'mcp' });
  const serving = await serveHttp(world, { auth: tokens.auth });
  const told: (readonly [SocietyToolName, Told])[] = [];
  const clients: Client[] = [];
  const callerOf = async (transport: Transport): Promise<Caller> => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    await client.listTools(); // a client checks answers by the schemas that it was shown
    clients.push(client);
    const call: Caller['call'] = async (tool, args = {}) => {
      const answer = await client.callTool({ name: tool, arguments: { ...args } });
      const [block] = answer.content as readonly { readonly text?: string }[];
      const data = answer.structuredContent ?? JSON.parse(block?.text ?? 'null');
      const one = { isError: answer.isError === true, data };
      told.push([tool, one]);
      return one;
    };
    return { client, call };
  };
  return {
    ...{ world, office: world.part(part), clock, keys, told },
    /** What the model was sent: each request whole, as a text. */
    prompts: (): readonly string[] => main.requests.map((request) => JSON.stringify(request)),
    async as(principal: Principal): Promise<Caller> {
      const authorization = `Bearer ${await tokens.issue(principal, { for: '1h' })}`;
      const requestInit = { headers: { authorization } };
      return callerOf(new StreamableHTTPClientTransport(new URL(serving.url ?? ''), { requestInit }));
    },
    async onPipes(principal: Principal): Promise<Caller> {
      const [input, output] = [new PassThrough(), new PassThrough()];
      await serveStdio(world, { as: principal, input, output });
      return callerOf(pipes(input, output));
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await serving.close();
      await world.close();
    },
  };
}

/** An opened world with its server. */
export type ServedPlace = Awaited<ReturnType<typeof openServed>>;

/** A served world with ann, her client, and the group crew that she owns. */
export async function openCrew(options: ServedOptions = {}) {
  const at = await openServed(options);
  await at.office.human('ann');
  const crew = at.office.group('crew');
  await crew.open({ owner: 'ann' });
  await crew.join('ann', 'owner');
  return { ...at, ann: await at.as('human:ann'), crew };
}

/** Registers an agent by a client. @returns its id */
export async function registered({ call }: Caller, parent: string, capabilities: object = {}, more: object = {}) {
  const spec = { parent_entity_id: parent, agent_type: 'custom', display_name: 'Bot', capabilities, ...more };
  const { data } = await call('agent_register', spec);
  return data.agent_id as string;
}

/** How often something is looked at before a test gives up, and the milliseconds between two looks. */
const LOOKS_MAX = 3_000;
const LOOK_MS = 20;

/** Waits until something is so. */
export async function until<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (let looks = 1; ; looks++) {
    const found = await look();
    if (isSo(found)) return found;
    if (looks === LOOKS_MAX) throw new Error(`was never so: ${JSON.stringify(found).slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
