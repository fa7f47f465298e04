/**
 * The process is killed inside a tool. Start this program twice: the second process continues where the first one died.
 * It does not repeat the payment, because nothing inside the program can tell whether it was made. The model reads that
 * the outcome is unknown, checks, and finds the payment.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { type ScriptRequest, type ScriptStep, scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice. This cannot be undone.',
  args: z.strictObject({ invoice: z.int() }),
  guarantee: 'at_most_once', // the default
  run: ({ invoice }) => {
    appendFileSync('payments.txt', `invoice ${invoice}\n`);
    print('paid, and killed before the result is recorded');
    process.kill(process.pid, 'SIGKILL');
    return new Promise<string>(() => undefined);
  },
});

const payments = defineTool({
  name: 'payments',
  description: 'Lists what has been paid.',
  args: z.strictObject({}),
  guarantee: 'idempotent',
  run: () => readFileSync('payments.txt', 'utf8').trim(),
});

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Pay invoices.', tools: [pay, payments] });

/** Like a real model, it knows only what the request contains, and remembers nothing. */
function answer({ messages }: ScriptRequest): ScriptStep {
  const last = messages.at(-1);
  print(`the model reads: ${last?.text}`);
  if (last?.role === 'user') return { calls: [{ tool: 'pay', args: { invoice: 7 } }] };
  if (last?.isError) return { calls: [{ tool: 'payments', args: {} }] };
  return { text: `This has been paid: ${last?.text}.` };
}

await using world = await openWorld({
  store: sqlite('after-a-crash.db'),
  models: { main: scriptBy(answer) },
  agents: [clerk],
});

// The second time, the world knows the id of the message, so this is the interrupted run.
const run = await world.session('office', clerk).send('Pay invoice 7.', { id: 'message-1' });
print(await run.text());
for await (const event of run.events()) {
  if (event.type === 'tool.failed') print(`${event.tool}: ${event.non_execution?.kind}`);
}

await world.verify();
