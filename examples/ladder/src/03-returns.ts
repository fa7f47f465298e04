/**
 * An agent with `returns` answers with data instead of text. If the data does not fit the schema, the model reads why
 * and answers again. The run returns data that is checked and typed.
 */
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const reader = defineAgent({
  name: 'reader',
  model: 'main',
  instructions: 'Read invoices.',
  returns: z.strictObject({ customer: z.string(), cents: z.int().min(0), due: z.iso.date() }),
});

const main = script(
  { text: 'Ada owes 42 euros, due on the first of May.' },
  { json: { customer: 'Ada', cents: 4_200, due: '2027-05-01' } },
);
await using world = await openWorld({ store: sqlite('returns.db'), models: { main }, agents: [reader] });

const run = await world.session('inbox', reader).send('Invoice: Ada, 42.00 EUR, 1 May 2027.', { id: 'invoice-7' });
const { value, usage } = await run.result();
if (value === undefined) throw new Error('the run did not complete');
print(`${value.customer} owes ${(value.cents / 100).toFixed(2)} until ${value.due}`);
print(`after ${usage.steps} answers; after the first, the model read:`);
print(main.requests[1]?.last);
main.done();

await world.verify();
