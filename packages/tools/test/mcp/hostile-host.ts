/**
 * Lists a server's tools and calls one: `hostile-host.ts JSON`, with the server in the form of `mcp()`. Prints the
 * result, the peak memory, and the most CPU time between two turns of the event loop.
 */
import { buildOf, type Tool, toolCallAdapter } from '@reprise/agent';
import { getBytes, memory, putValue } from '@reprise/kernel';
import { cpuMs } from '../../../../scripts/lib/cpu.js';
import { mcp } from '../../src/mcp/index.js';

const { content } = await memory().open();
const closing = new AbortController();
const { signal } = closing;
const live = mcp('hostile', JSON.parse(process.argv[2] ?? '')).open({ closing: signal } as never);

let longestTurn = 0;
let last = cpuMs();
setInterval(() => {
  const now = cpuMs();
  longestTurn = Math.max(longestTurn, now - last);
  last = now;
}, 5).unref();
let resident = 0;
setInterval(() => {
  resident = Math.max(resident, process.memoryUsage().rss);
}, 20).unref();

async function call(tool: Tool): Promise<string> {
  const adapter = toolCallAdapter(buildOf([{ name: 'a', tools: [tool] }]), { now: () => 0, closing: signal });
  const { fingerprint, guarantee } = tool.entry;
  const args_ref = await putValue(content, {});
  const params = { tool: tool.name, call_id: 'c', session: { key: 's', labels: {} }, args_ref, fingerprint, guarantee };
  const outcome = await adapter.doExecute(params, {
    idempotencyKey: 'a'.repeat(64),
    attempt: 1,
    deadline: null,
    signal,
    content,
    progress: () => {},
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async () => '',
  });
  if (outcome.status !== 'ok') return `${outcome.status}: ${String('error' in outcome ? outcome.error : '')}`;
  const text = await getBytes(content, outcome.payload.operator_output_ref);
  return `ok: ${new TextDecoder().decode(text).slice(0, 300)}`;
}

const before = process.memoryUsage().rss;
const started = process.cpuUsage();
let came: string;
try {
  const [first] = await live.list({ content, secret: async () => '', signal } as never);
  came = first === undefined ? 'no tools' : await call(live.tool(first) as Tool);
} catch (error) {
  came = `unreachable: ${(error as Error).message}`;
}
const { user, system } = process.cpuUsage(started);
const took = (user + system) / 1_000;
const mb = (bytes: number) => Math.round(bytes / 1024 / 1024);
const more = mb(Math.max(resident, process.memoryUsage().rss) - before);
process.stdout.write(JSON.stringify({ came, more, longestTurn: Math.round(longestTurn), took: Math.round(took) }));
closing.abort();
setTimeout(() => process.exit(0), 200);
