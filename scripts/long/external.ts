/**
 * A real CLI agent as a session, offline: `opencode acp`, whose model is a mock server on this machine.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/external.ts [--in FOLDER]
 *
 * The program is installed from the package registry into a folder, once (some 350 MB). Its session is recorded; it asks
 * leave for a command and gets it; a turn is cancelled; the world is opened again and the program's own session resumed;
 * then everything is replayed without the program.
 */
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { opencodeEnvironment, opencodeIn } from '../../conformance/opencode.js';
import { externalAgent, relay } from '../../packages/reprise/src/external.js';
import { type AgentWorld, openWorld } from '../../packages/reprise/src/index.js';
import { verifyRequests } from '../../packages/reprise/src/providers.js';
import { sqlite } from '../../packages/reprise/src/sqlite.js';

const PATIENCE_MS = 120_000;

const { values: options } = parseArgs({
  options: { in: { type: 'string', default: path.join(tmpdir(), 'reprise-external-agent') } },
});
const PROGRAM = opencodeIn(options.in);
const scratch = mkdtempSync(path.join(tmpdir(), 'external-'));
const [home, project, file] = ['home', 'project', 'world.db'].map((name) => path.join(scratch, name)) as [
  string,
  string,
  string,
];
for (const folder of [home, project]) mkdirSync(folder);

const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 4 });
const command = { command: 'echo made by the program > made.txt', description: 'Makes a file' };
mock
  .on(
    { userMessage: /make the file/, hasToolResult: false },
    {
      toolCalls: [{ id: 'c1', name: 'bash', arguments: JSON.stringify(command) }],
    },
  )
  .on({ userMessage: /make the file/, hasToolResult: true }, { content: 'The file is made.' })
  .on({ userMessage: /take your time/ }, { content: 'word '.repeat(2_000) }, { latency: 200 })
  .on(
    {
      userMessage: /what did I say first/,
      predicate: ({ messages }) => JSON.stringify(messages).includes('Say hello'),
    },
    { content: 'You said: Say hello.' },
  )
  .on({}, { content: 'Hello from the mock.' });
await mock.start();

const permission = { bash: 'ask', edit: 'ask' };
const coder = externalAgent({
  name: 'coder',
  command: [PROGRAM, 'acp'],
  protocol: 'acp',
  cwd: project,
  env: opencodeEnvironment(home, mock.url, { permission }),
});

const started = performance.now();
const within = async (what: string, act: (world: AgentWorld) => Promise<void>): Promise<void> => {
  const world = await openWorld({ store: sqlite(file), agents: [coder], models: { relay: relay() } });
  try {
    await act(world);
  } finally {
    await world.close();
  }
  say(`${what}: closed`);
};

await within('a session', async (world) => {
  const session = world.session('work', coder);
  const hello = await (await session.send('Say hello')).text();
  hold(hello === 'Hello from the mock.', 'it is told, and answers', hello);

  const making = await session.send('Please make the file');
  const item = await until(async () => (await world.pending())[0]);
  say(`asked: ${item.question?.question} ${JSON.stringify(item.question?.options)}`);
  const allow = item.question?.options?.find(({ label }) => /allow|once|yes/i.test(label))?.id;
  await world.decide(item, { answer: allow }, { as: 'human:ann' });
  const made = await making.text();
  hold(made.endsWith('The file is made.'), 'it asks leave, gets it, and goes on', made);
  hold(readFileSync(path.join(project, 'made.txt'), 'utf8').includes('made by'), 'what it was allowed to do is done');

  const slow = await session.send('take your time');
  let heard = 0;
  for await (const event of slow.stream()) {
    if (event.type !== 'delta' || ++heard < 3) continue;
    await session.cancel();
    break;
  }
  const { stop } = await slow.result();
  hold(stop.kind === 'Cancelled', `it is cancelled while it speaks, after ${heard} pieces`, stop);
});
await within('the same session, in another world process', async (world) => {
  const said = await (await world.session('work', coder).send('what did I say first?')).text();
  hold(said === 'You said: Say hello.', 'its own session is resumed', said);
  const { frames } = await world.verify();
  say(`verified: ${frames} frames replayed without the program`);
});
const reader = await sqlite(file).openReadonly();
const { equal, different } = await verifyRequests(reader, { relay: relay() });
hold(different.length === 0, `${equal} requests of the relay are, in bytes, what was sent`);
await reader.close();
await mock.stop();
say('all held');

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not come');
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`${what}: it did not; ${JSON.stringify(actual)}`);
  say(what);
}

function say(text: string): void {
  console.log(`${String(Math.round(performance.now() - started)).padStart(6)} ms  ${text}`);
}
