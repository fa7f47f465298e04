/** Reads one answer of a hostile server in a separate process; prints the result, the peak memory and the CPU time. */
import { anthropicMessages, openAiCompatible, openAiResponses } from '../src/index.js';

const [baseUrl = '', format = 'openai-chat'] = process.argv.slice(2);
const options = { baseUrl, retry: { retriesMax: 0 }, timeoutMs: 60_000, answerTimeoutMs: 120_000 };
const client =
  format === 'openai-chat'
    ? openAiCompatible({ model: 'm', ...options })
    : format === 'openai-responses'
      ? openAiResponses('m', options)
      : anthropicMessages('m', options);
const before = process.memoryUsage().rss;
const began = process.cpuUsage();
const result = await client.generate(
  { system: '', messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Go' }] }], tools: [] },
  { signal: new AbortController().signal, idempotencyKey: '', progress: () => {}, secret: async () => '' },
);
const { failure } = result.ok ? { failure: undefined } : result;
const code = failure === undefined ? 'ok' : failure.status === 'error' ? failure.code : failure.status;
const mib = Math.round((process.resourceUsage().maxRSS * 1024 - before) / 2 ** 20);
const { user, system } = process.cpuUsage(began);
process.stdout.write(JSON.stringify({ code, mib, ms: Math.round((user + system) / 1_000) }));
process.exit(0);
