import { describe, expect, it } from 'vitest';
import { forkBeforePlan } from './fork.js';
import { manyProjects } from './projects.js';
import { changeSkills, endTogether, mislead, ownName, timeOut } from './scenes.js';

describe('a team whose surroundings change or mislead', () => {
  it('a skill file that is added, broken, repaired, made unreadable or removed shows in the next request of the coordinator [SPEC-32]', async () => {
    expect(await changeSkills()).toMatchObject({ isRight: true });
  });

  it('a job whose time is over leaves no process of its tool and no slot [WORK-7]', async () => {
    expect(await timeOut()).toMatchObject({ isRight: true });
  });

  it('many jobs that end together wake the coordinator at most three times, and each result is shown once [SPEC-26]', async () => {
    expect(await endTogether(24)).toMatchObject({ isRight: true });
  });

  it('each spawn that a misled coordinator tries is refused, and the project keeps its digest [SPEC-15]', async () => {
    expect(await mislead()).toMatchObject({ isRight: true });
  });

  it('a dry fork from before the plan makes tasks, results and memories again, and asks no model [SPEC-39]', async () => {
    expect(await forkBeforePlan()).toMatchObject({ isRight: true });
  });

  it('a planner whose tool sends a request leaves a dry fork without its tasks', async () => {
    const { lines, isRight } = await forkBeforePlan('handlers');
    expect(isRight).toBe(false);
    expect(lines.join()).toContain('tasks 0 of 3, results 1 of 5, 0 calls made');
  });

  it('a wake of one project among forty has no more frames than that of one alone', async () => {
    const { lines } = await manyProjects(40);
    expect(lines[0]).toContain('1.00 × the frames');
  });

  it('a skill that lists a tool of the app with the name spawn_agent gets the tool of the app [SPEC-1]', async () => {
    expect(await ownName()).toMatchObject({ isRight: true });
  });
});
