/** A golden world of an agent: the session reducer, a scripted model, a tool, two runs and a failing one. */

import {
  agentApp,
  defineAgent,
  defineTool,
  llmGenerate,
  openAgentWorld,
  putText,
  SESSION_REDUCER,
} from '@reprise/agent';
import type { LlmGenerateReceipt, LlmToolCall } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import { digestOf } from '@reprise/kernel/define';
import { type ScriptedOutcome, scriptedAdapter } from '@reprise/testkit';
import * as z from 'zod';
import type { GoldenWorld } from './worlds.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  guarantee: 'idempotent',
  run: ({ a, b }) => `${a + b}`,
});
const agent = defineAgent({
  name: 'adder',
  model: 'main',
  instructions: 'Add what is asked.',
  tools: [add],
  limits: { steps: 4 },
});

/** A model's answer, stored as content before it is requested. */
async function answerOf(
  content: ContentStore,
  text: string,
  args?: { readonly a: number; readonly b: number },
): Promise<LlmGenerateReceipt> {
  const calls: LlmToolCall[] = [];
  if (args !== undefined) {
    const args_ref = await putValue(content, args);
    const signature = digestOf(['add', args]).slice(0, 16);
    calls.push({ call_id: `call-${args.a}`, tool: 'add', args_ref, signature, guarantee: 'idempotent' });
  }
  const tool_calls = calls.map(({ call_id, tool }) => ({ call_id, tool, args: { ...args } }));
  return {
    output_ref: await putValue(content, { text, tool_calls }),
    raw_output_ref: await putText(content, JSON.stringify({ text })),
    request_digest: '00'.repeat(32),
    request_bytes: 100,
    finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    tool_calls: calls,
  };
}

/** An agent. */
export const sessionWorld: GoldenWorld = {
  name: 'session',
  app: agentApp,
  cells: [[SESSION_REDUCER, 'görüşme']],
  logs: [[[SESSION_REDUCER, 'görüşme'], 'transcript']],
  async run(fixed) {
    const steps: ScriptedOutcome<LlmGenerateReceipt>[] = [];
    const llm = scriptedAdapter(llmGenerate, steps, { name: 'script-model' });
    const world = await openAgentWorld({
      ...fixed,
      agents: [agent],
      models: { main: {} },
      llm: () => llm,
      snapshotEvery: 5,
      recheckEvery: 1,
    });
    const { content } = world.kernel;
    const asked = { profile: 'script', model: 'script' };
    const usage = { tokens_in: 10, tokens_out: 3 };
    const session = world.session('görüşme', agent);
    steps.push({ status: 'ok', asked, payload: await answerOf(content, '', { a: 2, b: 40 }), usage });
    steps.push({ status: 'ok', asked, payload: await answerOf(content, 'It is 42.'), usage });
    await (await session.send('How much is 2 + 40?', { id: 'first' })).result();
    steps.push({ status: 'error', code: 'provider_error_terminal/refusal', retryable: false });
    await (await session.send('And İstanbul?', { id: 'second', as: 'human:ayşe' })).result();
    for (let a = 1; a <= 4; a++)
      steps.push({ status: 'ok', asked, payload: await answerOf(content, '', { a, b: a }), usage });
    await (await session.send('Never stop.', { id: 'third' })).result();
    llm.assertDone();
    await fixed.clock.settle();
    await world.close();
  },
};
