/**
 * A team in which a cell fails of an event, whichever cell and event it is: nothing that an app waits for goes on for ever,
 * and the team goes on or ends when the cell is revived.
 */
import { isRepriseError, memory, openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { type Delivered, defective } from './support/failing.js';
import { workflowModel, workflowTeam } from './support/workflow.js';

const WAIT = { within: '20s' } as const;
const FOR_EVER = 'it waits for ever';

/** How a wait ended. */
const outcome = (asked: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    asked.catch((error: unknown) => (isRepriseError(error) ? error.code : String(error))),
    new Promise((resolve) => setTimeout(resolve, 25_000, FOR_EVER).unref()),
  ]);

/** A workflow whose cells fail where it is said, and all that was delivered. */
async function played(isDefect: (delivered: Delivered) => boolean) {
  const team = defective(workflowTeam(), isDefect);
  const world = await openWorld({ store: memory(), models: { main: workflowModel().model }, parts: [team] });
  const project = world.part(team).project('auth');
  const sent = project.send('Move login to OAuth', { id: 'message-1' });
  const said = await outcome(sent.then((run) => run.text()));
  const idle = await outcome(project.idle(WAIT).then(({ status }) => status));
  return { world, project, said, idle };
}

/** What cells of a workflow without a defect take. */
async function delivered(): Promise<readonly (readonly [string, string])[]> {
  const seen = new Map<string, readonly [string, string]>();
  const { world } = await played(({ reducer, event }) => {
    seen.set(`${reducer} ${event}`, [reducer, event]);
    return false;
  });
  await world.close();
  return [...seen.values()];
}

const CASES = await delivered();

describe('a team in which one cell fails', () => {
  it('the cases are those of a workflow that reaches jobs, pool, memory and project', () => {
    expect(CASES.length).toBeGreaterThan(20);
  });

  it.each(CASES)(
    'when a %s fails of its first %s, every wait of the app ends, and the team goes on or ends once it is revived [SPEC-46] [SPEC-47] [SES-30]',
    async (reducer, event) => {
      let isOver = false;
      const { world, project, said, idle } = await played((one) => {
        if (isOver || one.reducer !== reducer || one.event !== event) return false;
        isOver = true;
        return true;
      });
      await using _ = world;
      expect(said).not.toBe(FOR_EVER);
      expect(['working', FOR_EVER]).not.toContain(idle);
      for (const one of await world.trouble()) if (one.kind === 'cell_failed') await world.revive(one.where);
      expect(await world.trouble()).toEqual([]);
      const later = await outcome(project.idle(WAIT).then(({ status }) => status));
      // A project whose first event failed has never been opened.
      expect(['open', 'done', 'needs_decision', 'invalid_argument']).toContain(later);
      const rows = await project.results();
      expect(rows.filter(({ ended }) => ended === undefined)).toEqual([]);
    },
  );
});
