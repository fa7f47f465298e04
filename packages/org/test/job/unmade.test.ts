/** Jobs that cannot be made, and jobs that are asked how they stand. */
import type { WorldPart } from '@reprise/agent';
import type { ReducerDefinition } from '@reprise/kernel';
import { JOB } from '@reprise/org';
import { describe, expect, it } from 'vitest';
import { inOffice, office } from './support/office.js';

/** Jobs fail of the event that makes them: they are a part that the part of work uses. */
function failing(part: WorldPart): WorldPart {
  return {
    ...part,
    uses: (part.uses ?? []).map((used) => ({ ...used, reducers: (used.reducers ?? []).map(failingJob) })),
  };
}

function failingJob(reducer: ReducerDefinition): ReducerDefinition {
  if (reducer.name !== JOB) return reducer;
  const reduce: typeof reducer.reduce = (draft, event, ctx) => {
    if (event.name === 'work/Begin@1') throw new Error('a defect');
    return reducer.reduce(draft, event, ctx);
  };
  return { ...reducer, reduce };
}

describe('given a job that is not made', () => {
  it('an owner hears that the job failed of its first event [WORK-14]', async () => {
    const open = await office({ change: failing });
    await open.hire(1, 'say hello');
    await open.settle();
    expect(await open.heard(1)).toEqual(['failed cell_failed']);
    expect(await open.pool()).toEqual({ running: 0, waiting: 0 });
    await open.close();
  });

  it('an owner hears the code with which a job was refused [WORK-14]', () =>
    inOffice(async (office) => {
      await office.hire(1, 'say hello', { details: { task: 'x'.repeat(3_000) } });
      await office.settle();
      expect(await office.heard(1)).toEqual(['failed job/details_too_large']);
    }));
});

describe('given a job that its owner asks how it stands', () => {
  it('the job tells its last change again, also after its end, and nothing changes [WORK-15]', () =>
    inOffice(async (office) => {
      await office.hire(1, 'say hello');
      await office.settle();
      const [before, state] = [await office.news(), await office.job(1)];
      await office.tell('test/Ask@1', { n: 1 });
      await office.settle();
      expect(await office.news()).toEqual([...before, before.at(-1)]);
      expect(await office.job(1)).toEqual(state);
    }));

  it('an owner that asks for a job that is not there hears that it failed [WORK-15]', () =>
    inOffice(async (office) => {
      await office.tell('test/Ask@1', { n: 7 });
      await office.settle();
      expect(await office.heard(7)).toEqual(['failed cell_failed']);
    }));
});
