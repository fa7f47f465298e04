/** One right call of each function that a newcomer meets. */
import { agentApp, defineAgent, defineTool, openWorld } from 'reprise';
import { defineOperation, openFleet } from 'reprise/fleet';
import { historyOf } from 'reprise/history';
import { memoryDirectory, openHost } from 'reprise/host';
import {
  creates,
  defineApp,
  defineReducer,
  followFrames,
  memory,
  openKernelWorld,
  openViews,
  verifyStore,
} from 'reprise/kernel';
import { otlpTraces, startTelemetry } from 'reprise/otel';
import {
  anthropicMessages,
  openAiCompatible,
  openAiResponses,
  script,
  scriptBy,
  typewriter,
  withPrice,
} from 'reprise/providers';
import { society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { sqlite, sqliteDirectory, sqliteViews } from 'reprise/sqlite';
import { loadWorld, replay, saveWorld, testWorld } from 'reprise/testing';
import { http, processes, workspace } from 'reprise/tools';
import { trees } from 'reprise/tree';
import { readChatInput, uiMessages } from 'reprise/ui';
import { hmac, standardWebhook, webhookHandler, webhooks } from 'reprise/webhooks';
import * as z from 'zod';
import type { RightCall } from './wrong-kinds.js';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  args: z.strictObject({}),
  approval: 'always',
  run: () => 5,
});
const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.', tools: [add] });

/** A world in which one call waits for a person. */
export async function waitingWorld() {
  const main = script({ calls: [{ tool: 'add', args: {} }] }, { text: 'Done.' });
  const world = await openWorld({ store: memory(), models: { main }, agents: [helper], onError: () => undefined });
  const session = world.session('me', helper);
  const run = await session.send('Add.', { id: 'first' });
  await run.endedOrWaiting();
  const [item] = await world.pending();
  if (item === undefined) throw new Error('nothing waits');
  return { world, session, run, item };
}

/** Functions that make things. */
export function makers(): readonly RightCall[] {
  const url = 'https://api.example.com/v1';
  // A wrong option is refused before the world is read.
  const kernel = { frames: () => undefined } as never;
  const client = openAiCompatible({ baseUrl: url, model: 'm-1' });
  const tally = {
    name: 'shop/Tally@1',
    state: z.strictObject({ total: z.int() }),
    events: { 'shop/Counted@1': creates(z.strictObject({ by: z.int() })) },
    init: () => ({ total: 0 }),
    reduce: () => undefined,
  };
  return [
    {
      name: 'defineAgent',
      call: defineAgent,
      free: ['0.contextWindow'], // null: it is unknown
      args: [
        {
          name: 'a',
          model: 'main',
          instructions: 'Help.',
          tools: [add],
          toolsets: [],
          context: [],
          limits: { steps: 3 },
          spawns: [],
          options: { temperature: 0 },
          contextWindow: 1_000,
          compaction: { keep: 3 },
        },
      ],
    },
    {
      name: 'defineTool',
      call: defineTool,
      args: [
        { name: 'a', description: 'A tool.', args: z.strictObject({}), run: () => 1, family: 'a', parallel: true },
      ],
    },
    {
      name: 'defineOperation',
      call: defineOperation,
      args: [{ name: 'shop/order@1', input: z.null(), output: z.null(), run: () => null }],
      loose: [0],
    },
    { name: 'script', call: script, args: [{ text: 'a', calls: [{ tool: 'add', args: {} }], cut: 3 }], free: ['0'] },
    { name: 'scriptBy', call: scriptBy, args: [() => ({ text: 'a' }), { price: { in: 1, out: 1 } }], needed: 1 },
    { name: 'typewriter', call: typewriter, args: [client, 30], loose: [0], free: ['0.write', '0.sendable'] },
    {
      name: 'withPrice',
      call: withPrice,
      args: [client, { in: 1, out: 2 }],
      loose: [0, 1],
      free: ['0.write', '0.sendable'],
    },
    {
      name: 'openAiCompatible',
      call: openAiCompatible,
      args: [
        { baseUrl: url, model: 'm', apiKey: 'k', timeoutMs: 1_000, retry: { retriesMax: 1 }, headers: { a: 'b' } },
      ],
      loose: [0],
      free: ['0.maxTokensField'],
    },
    { name: 'openAiResponses', call: openAiResponses, args: ['m', { baseUrl: url }], needed: 1, loose: [1] },
    { name: 'anthropicMessages', call: anthropicMessages, args: ['m', { baseUrl: url }], needed: 1, loose: [1] },
    { name: 'sqlite', call: sqlite, args: ['world.db', { create: 'file' }], needed: 1 },
    { name: 'sqliteViews', call: sqliteViews, args: ['world.db'] },
    { name: 'sqliteDirectory', call: sqliteDirectory, args: ['host.db', { create: 'file' }], needed: 1 },
    { name: 'defineReducer', call: defineReducer, args: [tally], free: ['0.state'] },
    { name: 'defineApp', call: defineApp, args: [{ reducers: [defineReducer(tally)] }] },
    { name: 'workspace', call: workspace, args: [{ root: '.', readOnly: true, ignore: ['a'] }] },
    { name: 'http', call: http, args: [{ allow: ['example.com'], bytesMax: 10 }] },
    { name: 'processes', call: processes, args: [{ root: '.', programs: ['git'], shell: false }] },
    { name: 'trees', call: trees, args: [{ agents: [helper] }] },
    { name: 'society', call: society, args: [{}], needed: 0 },
    { name: 'skill', call: skill, args: [{ name: 'a-b', description: 'A skill.', tools: [], body: 'Do it.' }] },
    {
      name: 'team',
      call: team,
      args: [{ name: 'dev', skills: [], tools: [], coordinator: { model: 'main', identity: 'You.' } }],
    },
    {
      name: 'otlpTraces',
      call: otlpTraces,
      args: [[], 'shop'],
      needed: 1,
    },
    {
      name: 'startTelemetry',
      call: (options: never) => startTelemetry(kernel, options),
      args: [
        { url: 'http://localhost:1', headers: { a: 'b' }, service: 'shop', content: true, cursor: 'c', metrics: true },
      ],
    },
    {
      name: 'webhooks',
      call: webhooks,
      args: [
        { ops: { url: 'https://ops.example.com/', secret: 'ops', on: ['ended'] } },
        { allowPrivate: ['localhost:1'] },
      ],
      needed: 1,
    },
    { name: 'standardWebhook', call: standardWebhook, args: [{ secret: 'partner', toleranceSeconds: 60 }] },
    {
      name: 'hmac',
      call: hmac,
      args: [{ secret: 'github', header: 'x-signature', prefix: 'sha256=', timestamped: true, id: { header: 'x-id' } }],
    },
    { name: 'readChatInput', call: readChatInput, args: [{ id: 'c', messages: [] }], free: ['0.messages'], loose: [0] },
  ];
}

/** Functions that open worlds and stores. */
export async function openers(): Promise<readonly RightCall[]> {
  const store = memory();
  const main = script({ text: 'Hello.' });
  const saved = await savedWorld();
  return [
    {
      name: 'openWorld',
      call: openWorld,
      args: [{ store, models: { main }, agents: [helper], onError: () => undefined, snapshotEvery: 100 }],
    },
    { name: 'testWorld', call: testWorld, args: [{ models: { main }, agents: [helper] }] },
    { name: 'openKernelWorld', call: openKernelWorld, args: [{ store, app: agentApp }] },
    {
      name: 'openHost',
      call: openHost,
      args: [{ directory: memoryDirectory(), store: () => store, open: () => undefined }],
      loose: [0],
    },
    {
      name: 'openFleet',
      call: openFleet,
      args: [
        {
          ...{ database: 'postgres://localhost/none', secret: 'x'.repeat(32), open: () => undefined, name: 'shops' },
          ...{ address: 'http://10.0.0.7:7070', listen: { port: 0 }, operations: [], world: () => 'x', ttl: 5_000 },
          ...{ onDrain: () => undefined, posts: { lookMs: 10, runMs: 10, keepMs: 10 } },
        },
      ],
    },
    { name: 'followFrames', call: followFrames, args: [42, { from: 1, signal: AbortSignal.abort() }], needed: 1 },
    { name: 'verifyStore', call: verifyStore, args: [42, { app: agentApp }], needed: 1 },
    { name: 'memoryDirectory', call: memoryDirectory, args: [{ shared: true, ttl: 5_000 }], needed: 0 },
    { name: 'saveWorld', call: saveWorld, args: [42] },
    { name: 'loadWorld', call: loadWorld, args: [saved], needed: 1 },
    { name: 'replay', call: replay, args: [saved, { app: agentApp }], needed: 1 },
    { name: 'historyOf', call: historyOf, args: [42] },
    { name: 'openViews', call: openViews, args: [42, []] },
    { name: 'uiMessages', call: uiMessages, args: [42] },
  ];
}

async function savedWorld(): Promise<Uint8Array> {
  const store = memory();
  await (await openKernelWorld({ store, app: agentApp })).close();
  return saveWorld(store);
}

/** Methods of a world, of a session and of a run. */
export function methods({ world, session, run, item }: Awaited<ReturnType<typeof waitingWorld>>): readonly RightCall[] {
  const on = (thing: object, name: string, args: readonly unknown[], more: Partial<RightCall> = {}): RightCall => {
    const kind = thing === world ? 'world' : thing === session ? 'session' : 'run';
    const call = (thing as Record<string, unknown>)[name] as (...given: unknown[]) => unknown;
    return { name: `${kind}.${name}`, call: (...given: unknown[]) => call.apply(thing, given), args, ...more };
  };
  const sent = { id: 'x-1', as: 'human:ann' };
  const command = { ...sent, ifEpoch: 1 };
  return [
    {
      name: 'webhookHandler',
      call: (options: never) => webhookHandler(world, options),
      args: [{ name: 'partner', verify: async () => undefined, to: () => undefined, as: 'human:ann', bytesMax: 9 }],
    },
    on(world, 'session', ['me', helper, { labels: { tenant: 'a' } }], {
      needed: 2,
      loose: [1],
      free: everyField(1, helper),
    }),
    on(world, 'sessions', [{ status: 'Idle', agent: 'helper', limit: 10, label: { a: 'b' }, after: '' }], {
      needed: 0,
    }),
    on(world, 'children', ['me']),
    on(world, 'pending', [{ to: 'human:ann', session: 'me', label: { a: 'b' } }], { needed: 0 }),
    on(world, 'decide', [item.id, { approve: true, comment: 'Yes.' }, { ...sent, digest: 'd' }], { needed: 2 }),
    on(world, 'decide', [item, { deny: 'No.' }], { loose: [0], free: everyField(0, item) }),
    on(world, 'answer', [item.id, 'yes', sent], { needed: 1, free: ['1'] }),
    on(world, 'settle', [item.id, { status: 'ok' }, sent], { needed: 2 }),
    on(world, 'revive', [session.address, sent], { needed: 1 }),
    on(world, 'remembered', ['me']),
    on(world, 'forget', ['me', 'add', sent], { needed: 2 }),
    on(world, 'define', [helper], { loose: [0], free: everyField(0, helper) }),
    on(world, 'events', [{ channel: 'model', inline: 10, follow: false }], { needed: 0 }),
    on(world, 'drain', [{ within: '1s' }], { free: ['0.within'] }),
    on(world, 'at', [1]),
    on(world, 'on', ['trouble', () => undefined]),
    on(session, 'send', ['Hello.', { ...sent, priority: 1, pin: true }], { needed: 1 }),
    on(session, 'steer', ['Hello.', { ...command, pin: true }], { needed: 1 }),
    on(session, 'followUp', ['Hello.', command], { needed: 1 }),
    on(session, 'withdraw', ['x', command], { needed: 1 }),
    on(session, 'reconfigure', [{ limits: { steps: 3 } }, command], { needed: 1 }),
    on(session, 'cancel', [{ ...command, scope: 'run', reason: 'Enough.' }], { needed: 0 }),
    on(session, 'pause', [command], { needed: 0 }),
    on(session, 'resume', [command], { needed: 0 }),
    on(session, 'retry', [command], { needed: 0 }),
    on(session, 'compact', [command], { needed: 0 }),
    on(session, 'close', [command], { needed: 0 }),
    on(session, 'revive', [command], { needed: 0 }),
    on(session, 'spawn', [helper, 'Hello.', sent], { needed: 2, loose: [0], free: everyField(0, helper) }),
    on(session, 'run', [0]),
    on(session, 'events', [{ channel: 'model', inline: 10, follow: false, tree: true }], { needed: 0 }),
    on(session, 'transcript', [0], { needed: 0 }),
    on(run, 'events', [{ channel: 'model', inline: 10, follow: false }], { needed: 0 }),
    on(run, 'stream', [{ channel: 'model', inline: 10 }], { needed: 0 }),
    on(run, 'cancel', [{ reason: 'Enough.' }], { needed: 0 }),
    on(run, 'retry', [command], { needed: 0 }),
  ];
}

/** A thing that only its maker makes: a copy with another field is another thing, which is refused as a whole. */
function everyField(i: number, thing: object): readonly string[] {
  return Object.keys(thing).map((field) => `${i}.${field}`);
}
