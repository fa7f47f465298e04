/**
 * The process is killed inside a tool. Start this program twice: the second one goes on where the first one died. The
 * payment is not made again, since nobody can know whether it was made; the model is told so, looks, and finds it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { type ScriptRequest, type ScriptStep, scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice. This cannot be undone.',
  args: z.strictObject({ invoice: z.int() }),
  delivery: 'at_most_once', // the default
  run: ({ invoice }) => {
    appendFileSync('payments.txt', `invoice ${invoice}\n`);
    console.log('paid, and killed before anybody is told');
    process.kill(process.pid, 'SIGKILL');
    return new Promise<string>(() => undefined);
  },
});

const payments = defineTool({
  name: 'payments',
  description: 'Lists what has been paid.',
  args: z.strictObject({}),
  delivery: 'idempotent',
  run: () => readFileSync('payments.txt', 'utf8').trim(),
});

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Pay invoices.', tools: [pay, payments] });

/** The model knows only what it is sent, as a real one does: it lives on no better than the process. */
function answer({ messages }: ScriptRequest): ScriptStep {
  const last = messages.at(-1);
  console.log(`the model reads: ${last?.text}`);
  if (last?.role === 'user') return { calls: [{ tool: 'pay', args: { invoice: 7 } }] };
  if (last?.isError) return { calls: [{ tool: 'payments', args: {} }] };
  return { text: `This has been paid: ${last?.text}.` };
}

await using world = await openWorld({
  store: sqlite('after-a-crash.db'),
  models: { main: scriptBy(answer) },
  agents: [clerk],
});

// The second time the message is known by its id, so this is the run that was interrupted.
const run = await world.session('office', clerk).send('Pay invoice 7.', { id: 'message-1' });
console.log(await run.text());
for await (const event of run.events()) {
  if (event.type === 'tool.failed') console.log(`${event.tool}: ${event.non_execution?.kind}`);
}

await world.verify();
