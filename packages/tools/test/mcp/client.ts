/**
 * Runs Reprise as the client in an MCP conformance scenario: `client.ts URL`. Its model makes the calls of the
 * scenario, and every form is accepted with its defaults.
 */
import type { ScriptStep } from '../../../providers/src/index.js';
import { AGENT_POLICY, defineAgent, memory, openWorld } from '../../../reprise/src/index.js';
import { mcp } from '../../../reprise/src/mcp.js';
import { script } from '../../../reprise/src/testing/testing.js';
import { signedIn } from './signed-in.js';

const url = process.argv.at(-1) ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';

const CALLS: Readonly<Record<string, { readonly tool: string; readonly args: object }>> = {
  tools_call: { tool: 'add_numbers', args: { a: 5, b: 3 } },
  'elicitation-sep1034-client-defaults': { tool: 'test_client_elicitation_defaults', args: {} },
  'sse-retry': { tool: 'test_reconnection', args: {} },
  'auth/scope-step-up': { tool: 'test-tool', args: {} },
  'auth/scope-retry-limit': { tool: 'test-tool', args: {} },
};

const call = CALLS[scenario] ?? (scenario.startsWith('auth/') ? { tool: 'test-tool', args: {} } : undefined);
const steps: ScriptStep[] = [
  ...(call === undefined ? [] : [{ calls: [{ tool: `suite__${call.tool}`, args: call.args as never }] }]),
  { text: 'Done.' },
];
const suite = mcp('suite', scenario.startsWith('auth/') ? signedIn(url) : { url }, { approval: 'never' });
const tester = defineAgent({ name: 'tester', model: 'main', instructions: 'Test.', toolsets: [suite] });
const world = await openWorld({
  store: memory(),
  models: { main: script(...steps) },
  agents: [tester],
  policy: AGENT_POLICY,
});
const run = await world.session('conformance', tester).send('Go');
const answering = setInterval(async () => {
  for (const item of await world.pending()) await world.answer(item, {}).catch(() => undefined);
}, 50);
try {
  await run.result();
  let failed = false;
  for await (const event of run.events()) {
    if (event.type !== 'toolset.unreachable' && event.type !== 'tool.failed') continue;
    console.error(event.type, 'text' in event ? event.text : event.code);
    failed = true;
  }
  process.exitCode = failed ? 1 : 0;
} finally {
  clearInterval(answering);
  await world.verify();
  await world.close();
}
