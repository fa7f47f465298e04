/** A dry fork from before the plan: it makes tasks, spawns and memories again from what is recorded, and asks no model. */
import path from 'node:path';
import { sqlite } from 'reprise/sqlite';
import { modelServer } from './model-server.js';
import { openOffice } from './office.js';
import { inFolder } from './run.js';
import type { Said } from './run-workflow.js';
import { decideFor, MESSAGE, type Planning, skillsFor, writeSkill } from './workflow.js';

/**
 * Runs the workflow, and forks its world before the planner was asked for.
 *
 * @param planning how the plan is written; a plan by a handler is missing in the fork
 */
export async function forkBeforePlan(planning: Planning = 'owner calls'): Promise<Said> {
  return inFolder(async (folder) => {
    const skills = path.join(folder, 'skills');
    for (const skill of skillsFor(planning)) writeSkill(skills, skill);
    const server = await modelServer(decideFor(planning));
    try {
      const places = { skills, model: server.url };
      const original = await openOffice({ file: path.join(folder, 'w.db'), ...places });
      const project = original.world.part(original.team).project('auth');
      await project.send(MESSAGE, { id: 'message-1' });
      await project.idle({ within: '60s' });
      const at = await beforePlan(original.world);
      const file = path.join(folder, 'fork.db');
      await original.world.kernel.fork({ at, into: sqlite(file) });
      await original.world.close();
      const before = server.asked.length;
      const fork = await openOffice({ file, ...places });
      const again = fork.world.part(fork.team).project('auth');
      const { status } = await again.idle({ within: '60s' });
      const tasks = await again.tasks();
      const results = await again.results();
      const memories = await again.memories.search('taught', { k: 50 });
      const made = server.asked.length - before;
      const completed = tasks.filter((task) => task.status === 'completed').length;
      const ok = results.filter((one) => one.status === 'ok' && one.processed).length;
      await fork.world.close();
      const line = `fork at ${at}: tasks ${completed} of 3, results ${ok} of 5, ${made} calls made, memories ${memories.length}, status ${status}`;
      const isRight = completed === 3 && ok === 5 && made === 0 && memories.length === 2 && status === 'done';
      return { lines: [line], isRight };
    } finally {
      server.stop();
    }
  });
}

/** The frame before the one in which the coordinator was woken, for the first time, and asked for a plan. */
async function beforePlan(world: Awaited<ReturnType<typeof openOffice>>['world']): Promise<number> {
  const end = new AbortController();
  for await (const { seq, records } of world.kernel.frames(0, end.signal))
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== 'specialists/CoordinatorWoken@1') continue;
      end.abort();
      return seq - 1;
    }
  throw new Error('the coordinator was not woken');
}
