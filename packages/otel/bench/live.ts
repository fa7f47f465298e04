/**
 * The CPU time of turns with and without telemetry, in one run: the same sessions on a file, each turn with one tool call, with no
 * telemetry, with an exporter that drops its spans, and with spans sent to a collector in a process of its own.
 *
 * Run: npm run bench -- --only otel/live
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { startTelemetry, type TelemetryOptions } from '@reprise/otel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

const SESSIONS = 10;
const TURNS = 20;
const ROUNDS = 9;

const COLLECTOR = `
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
  process.stdin.resume().on('end', () => process.exit(0));
`;

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: async ({ a, b }) => ({ sum: a + b }),
});
const agent = defineAgent({ name: 'clerk', model: 'main', instructions: 'Add what is asked.', tools: [add] });
const usage = { tokens_in: 100, tokens_out: 20 };
const model = scriptBy(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? { text: 'The sum is 3.', usage }
    : { calls: [{ tool: 'add', args: { a: 1, b: 2 } }], usage },
);

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-otel-bench-'));
let worlds = 0;

/** Microseconds of CPU time a turn, from the first turn to the end of closing. */
async function run(telemetry: TelemetryOptions | undefined): Promise<number> {
  const file = path.join(folder, `${worlds++}.db`);
  const world = await openAgentWorld({
    ...{ store: sqlite(file), agents: [agent], models: { main: {} } },
    ...(telemetry === undefined
      ? {}
      : {
          observers: [({ kernel }: AgentWorld) => startTelemetry(kernel, { ...telemetry, cursor: `${file}.cursor` })],
        }),
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  const began = process.cpuUsage();
  for (let turn = 0; turn < TURNS; turn++)
    for (let s = 0; s < SESSIONS; s++) await (await world.session(`s${s}`, agent).send('1 and 2?')).text();
  await world.close();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / (SESSIONS * TURNS);
}

const collector = spawn(process.execPath, ['-e', COLLECTOR], { stdio: ['pipe', 'pipe', 'inherit'] });
const url = await new Promise<string>((resolve) => createInterface({ input: collector.stdout }).once('line', resolve));

let dropped = 0;
const exporter = {
  export(spans: readonly unknown[], done: (result: { readonly code: number }) => void) {
    dropped += spans.length;
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};
const rows: readonly (readonly [string, TelemetryOptions | undefined])[] = [
  ['no telemetry', undefined],
  ['an exporter that drops', { exporter }],
  ['OTLP to a collector', { url }],
  ['OTLP with content and metrics', { url, content: true, metrics: true }],
];

const times = new Map<string, number[]>(rows.map(([name]) => [name, []]));
for (let round = 0; round <= ROUNDS; round++) {
  for (let i = 0; i < rows.length; i++) {
    const [name, telemetry] = rows[(i + round) % rows.length] ?? ['', undefined];
    const micros = await run(telemetry);
    if (round > 0) times.get(name)?.push(micros); // the first round warms up
  }
}
collector.stdin.end();
rmSync(folder, { recursive: true });

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const floors = times.get('no telemetry') ?? [];
console.log(
  `${SESSIONS * TURNS} turns of 2 model calls and 1 tool call on a file, ${ROUNDS} rounds that alternate; CPU time a turn`,
);
console.log(`${dropped} spans were dropped`);
for (const [name, list] of times) {
  const ratio = median(list.map((micros, i) => micros / (floors[i] ?? 1)));
  const least = Math.min(...list) / Math.min(...floors);
  console.log(
    `${name.padEnd(32)} ${median(list).toFixed(0).padStart(7)} µs  ${ratio.toFixed(3)} × (median of rounds)  ${least.toFixed(3)} × (least)`,
  );
}
