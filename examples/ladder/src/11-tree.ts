/**
 * A goal that grows into a tree. The root splits it: one child lists the rooms, one asks a person, and a fork, which
 * needs both, sees what they found. When all have ended the root runs again, and makes one result of theirs.
 */
import { defineAgent, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import { trees } from 'reprise/tree';
import * as z from 'zod';

const Plan = z.strictObject({ color: z.string(), liters: z.int() });
const painter = defineAgent({ name: 'painter', model: 'main', instructions: 'Plan the painting of houses.' });

const call = (tool: string, args: object) => ({ tool, args: args as never });
const complete = (result: unknown) => ({ calls: [call('complete', { result })] });

/** The model of all nodes: it answers by the goal that stands in the prompt. */
const main = scriptBy(({ last, messages }) => {
  if (last.includes('"accepted":true')) return { text: 'Done.' };
  const prompt = messages.findLast(({ text }) => text.startsWith('You are node'))?.text ?? '';
  if (prompt.includes('Results of your children')) return complete({ color: 'green', liters: 12 });
  if (prompt.includes('List the rooms\n')) return complete('Kitchen and hall: 60 square meters.');
  if (prompt.includes('Choose the color\n'))
    return last.includes('"answer":')
      ? complete(`It is ${/"answer":"(\w+)"/.exec(last)?.[1]}.`)
      : { calls: [call('ask', { question: 'Which color?', options: ['white', 'green'] })] };
  if (prompt.includes('Order the paint\n')) return complete('12 liters.');
  if (messages.at(-1)?.role === 'tool') return { text: 'I go on when they have ended.' };
  return {
    calls: [
      call('spawn', { goal: 'List the rooms', prompt: 'Task: List the rooms\n' }),
      call('spawn', { goal: 'Choose the color', prompt: 'Task: Choose the color\n' }),
      call('fork', { goal: 'Order the paint', prompt: 'Task: Order the paint\n', blocked_by: [2, 3] }),
    ],
  };
});

const grove = trees({ agents: [painter] });
await using world = await openWorld({ store: sqlite('paint.db'), models: { main }, parts: [grove] });
const goal = 'Paint the house';
const tree = await world.part(grove).start('house', { goal, returns: Plan, limits: { parallel: 1 } }, { id: 'house' });

for await (const event of tree.events()) {
  if (event.type === 'node' && event.kind !== 'ask') {
    const line = `${event.mark} #${event.node} ${event.state}: ${event.goal}`;
    if (event.run === 'none') print(line);
  }
  if (event.type === 'asked') {
    const [ask] = await tree.asks();
    print(`#${ask?.asker} asks: ${ask?.question.split('\n')[0]} ${ask?.options.join(' or ')}?`);
    await tree.answer(event.ask, 'green', { as: 'human:ann', id: 'color' });
  }
  if (event.type === 'ended') break;
}

const { status, value } = await tree.result();
print(status, value);
const fork = (await tree.node(4))?.launches[0];
print(`#4 knew ${fork?.inputs.map((n) => `#${n}`).join(' and ')}:`);
print(fork?.prompt.match(/<said by="#[\s\S]*?<\/said>/g)?.join('\n'));

await world.verify();
