/**
 * A planner gives the same task to two workers, each with a budget, and lets a judge pick the better result. The
 * children's budgets are parts of the planner's own: what they use counts as used by the planner's run.
 */
import { defineAgent, openWorld } from 'reprise';
import { script, scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print } from 'reprise/terminal';
import * as z from 'zod';

const worker = defineAgent({ name: 'worker', model: 'worker', instructions: 'Name the product.' });
const verdict = z.strictObject({ winner: z.string(), why: z.string() });
const judge = defineAgent({ name: 'judge', model: 'judge', instructions: 'Pick the best name.', returns: verdict });
const planner = defineAgent({
  name: 'planner',
  model: 'planner',
  instructions: 'Let two workers try, and the judge pick. Give each a budget.',
  spawns: [worker, judge],
  limits: { tokens: 1_500, wall: '5m', depth: 1, children: 3 },
});

/** The workers run at the same time, in any order, so the answer depends on the task alone. */
const names = scriptBy(({ last }) => ({
  text: last.includes('funny') ? 'Kettle of Fish' : 'Boilwell',
  usage: { tokens_in: 60, tokens_out: 10 },
}));
const attempt = (style: string) => ({
  tool: 'spawn_agent',
  args: { agent: 'worker', task: `A ${style} name for a kettle.`, max_tokens: 200, max_seconds: 60 },
});
const spent = { tokens_in: 200, tokens_out: 20 };
const wait = (...children: string[]) => ({ calls: [{ tool: 'wait_agents', args: { children } }], usage: spent });

const planned = script(
  { calls: [attempt('plain'), attempt('funny')], usage: spent },
  wait('c1', 'c2'),
  ({ last }) => ({
    calls: [{ tool: 'spawn_agent', args: { agent: 'judge', task: last, max_tokens: 300 } }],
    usage: spent,
  }),
  wait('c3'),
  ({ last }) => ({ text: last, usage: spent }),
);
const judged = script(({ last }) => {
  print(`the judge reads:\n${last}\n`);
  return { json: { winner: 'c1', why: 'It says what the thing does.' }, usage: { tokens_in: 90, tokens_out: 30 } };
});

await using world = await openWorld({
  store: sqlite('planner-worker-judge.db'),
  models: { planner: planned, worker: names, judge: judged },
  agents: [planner],
});
const run = await world.session('naming', planner).send('We need a name for a kettle.', { id: 'message-1' });
for await (const event of run.events()) {
  if (event.type === 'budget.pressure') print(`${event.percent} % of ${event.limit}: ${event.used}/${event.of}\n`);
}
print(`the planner says:\n${await run.text()}\n`);
for (const { session, child, agent, status } of await world.children('naming')) {
  const { max_tokens } = (await world.session(session, worker).state())?.config.limits ?? {};
  print(`${child} ${agent}: ${status}, ${max_tokens} tokens at most`);
}
planned.done();
judged.done();

await world.verify();
