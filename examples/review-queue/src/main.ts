import { openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import { reviews } from './reviews.js';

const [, , document, verdict = ''] = process.argv;
const main = scriptBy(({ last, messages, system }) => {
  const call = (tool: string, text: string) => ({ calls: [{ tool, args: { text } }] });
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  if (last.includes('lorem ipsum')) return call('reject', 'It is not finished.');
  if (!last.includes('liability')) return call('approve', 'Nothing is wrong with it.');
  return call('escalate', system.includes('senior') ? 'May we accept this risk?' : 'I am no lawyer.');
});

await using world = await openWorld({ store: sqlite('reviews.db'), models: { main }, parts: [reviews] });
const desk = world.part(reviews);
const levels = [
  { agent: 'reviewer', slots: 2, minutes: 5, tokens: 20_000 },
  { agent: 'senior', slots: 1, minutes: 15, tokens: 40_000 },
];
await desk.open(levels, { unit: 'tokens', amount: 200_000 });
await desk.submit('Invoice', 'Two chairs: 120 euros.');
await desk.submit('Flyer', 'lorem ipsum');
await desk.submit('Contract', 'The liability is unlimited.');
if (document !== undefined) await desk.decide(Number(document), verdict, 'I talked to them.', { as: 'human:ann' });
await world.pump();
for (const line of await desk.list()) print(line);
print('unverified:', (await world.verify()).unverified);
