import { describe, expect, it } from 'vitest';
import { stepOf } from '../part.js';
import { killOwners } from './kill.js';
import { runWorkflow } from './run-workflow.js';
import { killStory } from './story-kills.js';

const COORDINATOR =
  'coordinator: 0 bodies, tools: [memory_demote, memory_query, memory_reinforce, memory_store, memory_update, memory_why, ' +
  'narrative_append, result_read, results_list, spawn_agent, task_cancel, task_graph, task_retry, task_skip]';

describe('the workflow of a team in a process of its own', () => {
  it('research, a plan by a pointer, three specialists and what is kept come to their end, and replay without skills and keys', async () => {
    const { lines, isRight } = await runWorkflow();
    expect(lines).toEqual(expect.arrayContaining(['tasks completed 3/3', 'results processed 5/5', 'replay identical']));
    expect(lines).toEqual(
      expect.arrayContaining([
        COORDINATOR,
        'coordinator: 0 requests with research, 0 with a brief',
        'worker: 0 foreign briefs, 0 foreign bodies',
        'verify without skills and keys: exit 0',
      ]),
    );
    expect(isRight).toBe(true);
  });

  it('a team that puts the body of a skill into the index is found by a look at the raw requests', async () => {
    const { lines, isRight } = await runWorkflow({ isLeaking: true });
    expect(isRight).toBe(false);
    expect(lines.some((line) => /^coordinator: [1-9]\d* bodies/.test(line))).toBe(true);
  });

  it('a small team whose process is killed just after a frame, whichever, ends alike, and its world verifies [SPEC-21, SPEC-28]', async () => {
    const { lines, isRight } = await killStory(['after'], stepOf(3));
    expect(lines[0]).toMatch(/^(\d+)\/\1 kills end alike/);
    expect(isRight).toBe(true);
  });

  it('a project whose process is killed six times at random has each result, plan row and memory once', async () => {
    const { lines, isRight } = await killOwners(6, 7);
    expect(lines).toEqual(['6/6: results 5, processed 5, plan rows 3, memories 2, slots free 3']);
    expect(isRight).toBe(true);
  });
});
