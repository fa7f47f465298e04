/** A team: the tasks of its project in the order in which they can be done, and what each needs. */
import type { TaskRow, TeamReport } from '../../../src/contract/reports.js';
import { Empty, Shown } from '../../parts/answer.js';
import { Row, useRows } from '../../parts/rows.js';
import { Line } from '../../parts/text.js';
import { useKeys } from '../../state/keys.js';
import { go, here, hrefOf, useRoute } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { safe } from '../../words/names.js';
import type { ScreenProps } from '../screen.js';

/** One team as a screen. */
export function Team(_props: ScreenProps) {
  const [project = ''] = useRoute().parts;
  return <TeamPart project={project} />;
}

/** One team. */
export function TeamPart({ project }: { readonly project: string }) {
  const answer = useReportAt<TeamReport>('team', { project });
  return (
    <Shown of={answer} what={`the project ${safe(project)}`}>
      {(team) => <Tasks team={team} />}
    </Shown>
  );
}

function Tasks({ team }: { readonly team: TeamReport }) {
  const tasks = inOrder(team.tasks);
  const id = (task: number) => `${team.project}-${task}`;
  const sel = useRows(tasks.map(({ task }) => id(task.task)));
  useKeys({
    Enter: () => {
      const session = tasks.find(({ task }) => id(task.task) === here().query.sel)?.task.session;
      if (session == null) return false;
      go({ screen: 'story', parts: [session] });
    },
  });
  return (
    <div class="chart-of">
      <p class="goal">
        <strong>{safe(team.state)}</strong>
        {team.waits.length > 0 && ` · ${team.waits.map(safe).join('; ')}`}
      </p>
      {tasks.length === 0 && <Empty>The coordinator has planned no task yet.</Empty>}
      {tasks.map(({ task, depth }, i) => (
        <Row key={task.task} id={id(task.task)} isSelected={id(task.task) === sel} isFirst={i === 0} class="node">
          <div class="cols" style={{ '--depth': depth }}>
            <span class="what indent">
              <span class="quiet num">{task.task}</span> {safe(task.title)}
              {task.needs.length > 0 && <span class="quiet"> needs {task.needs.join(', ')}</span>}
            </span>
            <span class="who">{task.specialist === null ? '' : safe(task.specialist)}</span>
            <span class="state">
              {safe(task.state)}
              {task.attempt > 1 && `, attempt ${task.attempt}`}
            </span>
            <span class="age">
              {task.session !== null && <a href={hrefOf({ screen: 'story', parts: [task.session] })}>story</a>}
            </span>
          </div>
          {task.result !== null && (
            <p class="note" style={{ '--depth': depth }}>
              <Line text={task.result} />
            </p>
          )}
        </Row>
      ))}
    </div>
  );
}

interface Placed {
  readonly task: TaskRow;
  readonly depth: number;
}

/** Each task behind those that it needs, as deep as the longest way to it. */
function inOrder(tasks: readonly TaskRow[]): readonly Placed[] {
  const of = new Map(tasks.map((task) => [task.task, task]));
  const depths = new Map<number, number>();
  const depthOf = (n: number, above: readonly number[]): number => {
    const known = depths.get(n);
    if (known !== undefined || above.includes(n)) return known ?? 0;
    const needs = of.get(n)?.needs ?? [];
    const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map((need) => depthOf(need, [...above, n])));
    depths.set(n, depth);
    return depth;
  };
  return tasks
    .map((task) => ({ task, depth: depthOf(task.task, []) }))
    .sort((p, q) => p.depth - q.depth || p.task.task - q.task.task);
}
