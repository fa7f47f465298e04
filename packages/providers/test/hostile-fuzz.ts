/**
 * Reads answers of random bytes over real HTTP in a separate process; prints their number, the most CPU time of one and the
 * peak memory.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { cpuMs } from '../../../scripts/lib/cpu.js';
import { anthropicMessages, openAiCompatible, openAiResponses } from '../src/index.js';
import { BYTE_FORMATS } from './pieces.js';
import { anyBytes, bytesOf } from './stream-laws.js';

/** The result of reading random answers. */
export interface Fuzzed {
  readonly inputs: number;
  readonly ok: number;
  readonly mib: number;
  readonly slowestCpuMs: number;
}

/** How bytes are damaged: some are changed, some removed, some repeated many times. */
const anyHarm = fc.record({
  flips: fc.array(fc.tuple(fc.nat({ max: 1 << 16 }), fc.nat({ max: 255 })), { maxLength: 6 }),
  from: fc.nat({ max: 1 << 16 }),
  length: fc.nat({ max: 64 }),
  times: fc.constantFrom(0, 0, 1, 2, 1_000, 100_000),
  status: fc.constantFrom(200, 200, 200, 200, 400, 429, 500),
  type: fc.constantFrom('text/event-stream', 'text/event-stream', 'application/json', 'text/plain'),
});

const anyInput = fc.record({ format: fc.constantFrom(...BYTE_FORMATS), drawn: anyBytes, harm: anyHarm });
type Input = typeof anyInput extends fc.Arbitrary<infer T> ? T : never;

const [runs = 100, seed = 1] = process.argv.slice(2).map(Number);
const before = process.memoryUsage().rss;
const inputs = fc.sample(anyInput, { numRuns: runs, seed });
let at = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const input = inputs[at];
    if (input === undefined) return void response.destroy();
    response.writeHead(input.harm.status, { 'content-type': input.harm.type });
    response.end(harmed(input));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const options = {
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
  retry: { retriesMax: 0 },
  timeoutMs: 5_000,
};
const clients = {
  'openai-chat': openAiCompatible({ model: 'm', ...options }),
  'openai-responses': openAiResponses('m', options),
  'anthropic-messages': anthropicMessages('m', options),
};

let [ok, slowestCpuMs] = [0, 0];
for (; at < inputs.length; at++) {
  const began = cpuMs();
  const result = await clients[inputs[at]?.format ?? 'openai-chat'].generate(
    { system: '', messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }] }], tools: [] },
    { signal: new AbortController().signal, idempotencyKey: '', progress: () => {}, secret: async () => '' },
  );
  if (result.ok) ok++;
  slowestCpuMs = Math.max(slowestCpuMs, Math.round(cpuMs() - began));
}
const mib = Math.round((process.resourceUsage().maxRSS * 1024 - before) / 2 ** 20);
const fuzzed: Fuzzed = { inputs: at, ok, mib, slowestCpuMs };
process.stdout.write(JSON.stringify(fuzzed));
process.exit(0);

function harmed({ format, drawn, harm }: Input): Buffer {
  const bytes = Buffer.from(bytesOf(format, drawn));
  if (bytes.length === 0) return bytes;
  for (const [place, value] of harm.flips) bytes[place % bytes.length] = value;
  const from = harm.from % bytes.length;
  const said = bytes.subarray(from, from + harm.length);
  return Buffer.concat([
    bytes.subarray(0, from),
    ...Array<Buffer>(harm.times).fill(said),
    bytes.subarray(from + harm.length),
  ]);
}
