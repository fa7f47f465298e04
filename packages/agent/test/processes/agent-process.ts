/**
 * A process of its own with a world of one agent: `agent-process.ts WORLD URL`. The model and the payments are behind
 * real HTTP; what it is told on its standard input it says to the session; what happens it prints, one JSON line each.
 */
import { createInterface } from 'node:readline';
import { AGENT_POLICY, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { llmGenerateAdapter, openAiCompatible } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import * as z from 'zod';

const [, , file = '', url = ''] = process.argv;

/** A payment that heeds being told to stop says what it knows; the other goes on regardless. */
const pay = (name: string, heeds: boolean) =>
  defineTool({
    name,
    description: 'Pays an amount. This cannot be undone.',
    args: z.strictObject({ cents: z.int() }),
    run: async ({ cents }, { signal }) => {
      const options = { method: 'POST', body: JSON.stringify({ name, cents }), ...(heeds ? { signal } : {}) };
      const reply = await fetch(`${url}/pay`, options).catch((error: unknown) => error as Error);
      return reply instanceof Error ? 'The payment was sent; its confirmation was not waited for.' : reply.text();
    },
  });

const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Pay what is due.',
  tools: [pay('pay_rent', true), pay('pay_power', false)],
  cancelGrace: '3s',
});

const main = openAiCompatible({ baseUrl: `${url}/v1`, model: 'clerk-model', retry: { retriesMax: 0 } });
await using world = await openAgentWorld({
  store: sqlite(file),
  agents: [clerk],
  models: { main: {} },
  policy: AGENT_POLICY,
  llm: (judge) => llmGenerateAdapter({ main }, { judge }),
});
const session = world.session('office', clerk);

const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
void (async () => {
  for await (const event of session.events()) tell({ event: event.type, ...told(event) });
})();

function told(event: object): object {
  const { tool, non_execution, code, status, text } = event as Record<string, unknown>;
  return { tool, kind: (non_execution as { kind?: string } | undefined)?.kind, code, status, text };
}

tell({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { say, cancel, verify } = JSON.parse(line) as {
    say?: [text: string, id: string];
    cancel?: true;
    verify?: true;
  };
  if (say !== undefined)
    void session
      .send(say[0], { id: say[1] })
      .then((run) => run.result())
      .then(({ stop }) => tell({ stop }));
  if (cancel === true) tell({ cancelled: await session.cancel() });
  if (verify === true) tell({ verified: (await world.verify()).unverified === 0 });
}
