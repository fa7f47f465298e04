import { defineAgent, defineTool, memory, openWorld, toolDifferences } from 'reprise';
import { script } from 'reprise/providers';
import * as z from 'zod';

const store = memory();

/** A build of the app: the tool as this deployment has it. */
function build<A extends z.ZodObject>(args: A, more: { description: string; timeout?: '30s' }) {
  const pay = defineTool({
    name: 'pay',
    args,
    approval: 'always',
    run: (given: object) => `paid ${JSON.stringify(given)}`,
    ...more,
  });
  return defineAgent({ name: 'clerk', model: 'main', instructions: 'Pay the bills.', tools: [pay] });
}
const calls = { calls: [{ tool: 'pay', args: { cents: 500 } }] };
const cents = z.strictObject({ cents: z.int() });

async function open(agent: ReturnType<typeof build>, ...steps: Parameters<typeof script>) {
  const world = await openWorld({ store, agents: [agent], models: { main: script(...steps) } });
  return { world, session: world.session('bills', agent) };
}

const monday = await open(build(cents, { description: 'Pays a bil.' }), calls);
await monday.session.send('Pay it.');
await monday.world.pump();
await monday.world.close();

const tuesday = await open(build(cents, { description: 'Pays a bill.', timeout: '30s' }), { text: 'It is paid.' });
const [first] = await tuesday.world.pending();
console.log(first?.args, first?.changed);
if (first !== undefined) console.log(await tuesday.world.decide(first, { approve: true }, { as: 'human:ann' }));
await tuesday.world.pump();
console.log((await tuesday.session.state())?.lifecycle);
await tuesday.world.close();

const wednesday = await open(build(cents, { description: 'Pays a bill.' }), calls);
await wednesday.session.send('Pay the next one.');
await wednesday.world.pump();
const [old] = await wednesday.world.pending();
await wednesday.world.close();

const wider = z.strictObject({ cents: z.int(), account: z.string().optional() });
const thursday = await open(build(wider, { description: 'Pays from any account.' }), { text: 'It is paid.' });
if (old === undefined) throw new Error('it waits');
const answer = await thursday.world.decide(old, { approve: true }, { as: 'human:ann' });
console.log(answer.status);
for (const { what, before } of toolDifferences(answer.item?.changed ?? { after: {} as never })) console.log(what, 'was', before);
if (answer.item !== undefined)
  console.log(await thursday.world.decide(answer.item, { approve: true }, { as: 'human:ann' }));
await thursday.world.pump();
console.log((await thursday.session.state())?.lifecycle);
await thursday.world.close();
