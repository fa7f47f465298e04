import { defineTool } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineTeam } from '../src/index.js';
import { skill } from '../src/skills/index.js';

it('runs story two', async () => {
  const grepCode = defineTool({
    name: 'Grep',
    description: 'Searches the code.',
    args: z.strictObject({ text: z.string() }),
    guarantee: 'idempotent',
    run: ({ text }) => `src/login.ts: ${text}`,
  });
  const seen: string[] = [];
  const main = scriptBy(({ system, last, messages, ...rest }) => {
    seen.push(
      JSON.stringify({ system: system.slice(0, 60), last, rest: Object.keys(rest), tools: (rest as any).tools }),
    );
    const isCoordinator = system.includes('You coordinate.');
    if (!isCoordinator)
      return messages.at(-1)?.role === 'tool'
        ? { text: 'Login is in src/login.ts.\n\nDetails follow.' }
        : { calls: [{ tool: 'Grep', args: { text: 'login' } }] };
    if (last.startsWith('Move'))
      return { calls: [{ tool: 'spawn_agent', args: { task: 'Find the login code', skill: 'research' } }] };
    if (last.includes('Login is in') && messages.at(-1)?.role === 'user')
      return { calls: [{ tool: 'memory_store', args: { text: 'Login lives in src/login.ts.', result_id: 1 } }] };
    return { text: 'Noted.' };
  });
  const research = skill({
    name: 'research',
    description: 'Finds things in the code',
    tools: ['Grep'],
    body: 'Search, then report.',
  });
  const team = defineTeam('dev', {
    skills: [research],
    tools: [grepCode],
    coordinator: { model: 'main', identity: 'You coordinate.' },
    planners: ['project-planner'],
  });
  await using world = await openWorld({ store: memory(), models: { main }, parts: [team] });
  const project = world.part(team).project('auth');
  void (async () => { for await (const { seq, records } of world.kernel.frames(0)) for (const r of records) console.log(seq, r.kind, JSON.stringify(r).slice(0, 260)); })();
  const run = await project.send('Move login to OAuth', { id: 'message-1' });
  console.log(await run.text());
  const state = await project.idle({ within: '10s' });
  console.log(state.status, JSON.stringify(state));
  for (const one of await project.results()) console.log(JSON.stringify(one));
  console.log(seen.join('\n'));
  for (const item of await project.memories.search('login'))
    console.log(JSON.stringify(await project.memories.why(item.id)));
  await world.verify();
  expect(state.status).toBe('done');
}, 8_000);
