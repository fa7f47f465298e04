/**
 * A call can wait for a person, for minutes or weeks, and across restarts. The person may deny it with a reason, or
 * approve it with other arguments than the model's. The model reads the decision.
 */
import { type Decision, defineAgent, defineTool, openWorld, type Pending } from 'reprise';
import { script } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  args: z.strictObject({ order: z.string(), euros: z.int().min(1) }),
  approval: ({ args }) => (args.euros > 50 ? { reason: 'More than 50 euros.' } : false),
  run: ({ order, euros }) => `Refunded ${euros} euros for ${order}.`,
});

const support = defineAgent({ name: 'support', model: 'main', instructions: 'Help customers.', tools: [refund] });

const main = script(
  { calls: [{ tool: 'refund', args: { order: 'o-1', euros: 900 } }] },
  { calls: [{ tool: 'refund', args: { order: 'o-1', euros: 90 } }] },
  { text: 'You get 80 euros back.' },
);
await using world = await openWorld({ store: sqlite('approval.db'), models: { main }, agents: [support] });

/** The decision of a person who sees the pending item. */
function judged({ args }: Pending): Decision {
  const { order, euros } = args as { order: string; euros: number };
  if (euros > 100) return { deny: 'The order was 90 euros.' };
  return { approve: true, args: { order, euros: euros - 10 }, comment: 'Less 10 euros for shipping.' };
}

const run = await world.session('ticket-1', support).send('I want my money back.', { id: 'message-1' });
for await (const event of run.events()) {
  if (event.type !== 'human.requested') continue;
  const [item] = await world.pending({ session: 'ticket-1' });
  if (item === undefined) continue;
  print(`${item.tool} waits:`, item.args, item.reason);
  print(await world.decide(item, judged(item), { as: 'human:ann' }));
}
print(await run.text());
for (const { role, text } of main.requests.at(-1)?.messages ?? []) {
  if (role === 'tool') print(`\nWhat the model read of a call:\n${text}`);
}
main.done();

await world.verify();
