/** The tools of a project: what models may write, and what of it reaches the project. */
import { check, readText, type Tool } from '@reprise/agent';
import { type Ref, sessionOp } from '@reprise/contracts';
import { memory, type OpenStore } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { COORDINATOR_TOOLS, type ProjectTool, projectCalls } from '../src/pure/index.js';
import { coordinatorTools, specialistTools } from '../src/tools/project-tools.js';

const SESSION = { key: 'auth/coordinator', labels: {} };
const TOOLS = new Map([...coordinatorTools(), ...specialistTools()].map((tool) => [tool.name, tool]));
let content: OpenStore['content'];

beforeEach(async () => {
  ({ content } = await memory().open());
});

/** What the project receives of arguments, or the problems that the model reads. */
async function called(name: ProjectTool, args: object): Promise<unknown> {
  const tool = TOOLS.get(name) as Tool;
  const fits = await check(tool.args, args);
  if (!fits.ok) return fits.problems;
  const op = sessionOp.parse(await tool.operation?.(fits.value as never, content, SESSION));
  return projectCalls[name].call.parse((op as { readonly args: unknown }).args);
}

describe('the tools of a project', () => {
  it('a coordinator has the tools that its list names, and a planner has plan_write', () => {
    expect(coordinatorTools().map(({ name }) => name)).toEqual(COORDINATOR_TOOLS);
    expect([...TOOLS.keys()].sort()).toEqual(Object.keys(projectCalls).sort());
  });

  it('a note and an entry of the narrative become links, and what a model leaves out stays out', async () => {
    const retry = (await called('task_retry', { task_id: 3, note: 'Try\ud800 less.' })) as { readonly note_ref: Ref };
    expect(Object.keys(retry)).toEqual(['task_id', 'note_ref']);
    expect(await readText(content, retry.note_ref)).toBe('Try\ufffd less.');
    expect(await called('narrative_append', { text: 'Größe', task_ids: [2] })).toMatchObject({
      bytes: 7,
      task_ids: [2],
    });
  });

  it('a text for the narrative of too many bytes is refused with its bytes', async () => {
    expect(await called('narrative_append', { text: 'ü'.repeat(1_400) })).toBe(
      '- text: has 2800 bytes; at most 2000 are allowed',
    );
  });

  it('a spawn that names a task of the plan and other work reaches the project, which refuses it', async () => {
    const both = { task_id: 1, task: 'Read it.', context: 'x'.repeat(99) };
    await expect(called('spawn_agent', both)).rejects.toThrow();
    expect(await called('spawn_agent', { task_id: 1 })).toEqual({ task_id: 1 });
    expect(
      await called('spawn_agent', { task: 'Read\nit.', skill: 'reader', context: '[agent_result:3]' }),
    ).toMatchObject({
      task: 'Read it.',
      skill: 'reader',
      context_bytes: 16,
      pointers: [3],
    });
  });
});
