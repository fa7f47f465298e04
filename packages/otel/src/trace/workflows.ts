/** Organizations: trees and their nodes, teams and their tasks, swarms and their tasks, all as `invoke_workflow`. */
import type { DerivedOf } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { JobChanged } from '@reprise/org/contracts';
import type { swarmFacts } from '@reprise/society/contracts';
import type { ProjectFact } from '@reprise/specialists/contracts';
import type { NodeStatus, TreeFact } from '@reprise/tree/contracts';
import { ATTRIBUTES, OPERATIONS, REPRISE, WORKFLOWS } from '../names/conventions.js';
import { EVENTS, MAKING_CALLS, REDUCERS } from '../names/wire.js';
import { type Known, keyOf, type PassedCall } from './known.js';
import { below, type Here, linkTo, type OpenSpan, type OpenSpans, type Position } from './open-spans.js';
import type { SpanAttribute, SpanLink } from './span.js';

type SwarmFact<K extends keyof typeof swarmFacts> = z.infer<(typeof swarmFacts)[K]>;
type NodeFact = TreeFact<'tree/NodeChanged@1'>;

const NODE_OPEN: readonly NodeStatus[] = ['pending', 'active', 'waiting_children', 'waiting_input'];
const PROJECT_OVER: readonly string[] = ['done', 'cancelled'];
const TASK_OVER: readonly string[] = ['completed', 'failed', 'skipped', 'cancelled'];
const SWARM_OVER: readonly string[] = ['archived', 'disbanded', 'failed'];
const JOB_OVER: readonly string[] = ['ok', 'failed', 'cancelled', 'timeout'];

/** Trees, projects and swarms, and the parts of each. */
export class Workflows {
  constructor(
    private readonly spans: OpenSpans,
    private readonly known: Known,
  ) {}

  treeStarted(here: Here, tree: string): void {
    this.#tree(here, tree);
  }

  treeEnded(here: Here, tree: string, { status, code }: TreeFact<'tree/Ended@1'>): void {
    const span = this.spans.find('tree', tree);
    if (span !== undefined) this.spans.end(span, here, endingOf(status, code));
  }

  nodeChanged(here: Here, tree: string, row: NodeFact): void {
    const key = keyOf([tree, row.n]);
    const span = this.spans.find('node', key);
    const isOpen = NODE_OPEN.includes(row.status);
    // A question is the call that asks it.
    if (isOpen && span === undefined && row.type !== 'ask') this.#nodeBegins(here, tree, row, key);
    if (isOpen || span === undefined) return;
    if (row.session !== null) this.known.launches.delete(row.session);
    this.spans.end(span, here, endingOf(row.status, row.code));
  }

  launched(tree: string, { n, session, run }: TreeFact<'tree/Launched@1'>): void {
    this.known.launches.set(session, { run, node: keyOf([tree, n]) });
  }

  projectChanged(here: Here, project: string, { status, team }: ProjectFact<'specialists/ProjectChanged@1'>): void {
    const span = this.spans.find('project', project);
    if (!PROJECT_OVER.includes(status)) named(span ?? this.#project(here, project), team);
    else if (span !== undefined) {
      named(span, team);
      this.spans.end(span, here, endingOf(status, null));
    }
  }

  taskChanged(here: Here, project: string, fact: ProjectFact<'specialists/TaskChanged@1'>): void {
    const { task, skill, status, code, result } = fact;
    const key = keyOf([project, task]);
    const span = this.spans.find('task', key);
    if (TASK_OVER.includes(status) && span !== undefined) return this.spans.end(span, here, endingOf(status, code));
    if (status !== 'running' || span !== undefined) return;
    const begun = this.spans.begin(
      here,
      {
        ...{ of: 'task', key, name: workflow(WORKFLOWS.task) },
        attributes: {
          ...attributes(WORKFLOWS.task, { [REPRISE.project]: project, [REPRISE.task]: task }),
          [ATTRIBUTES.agentName]: skill,
        },
      },
      below(this.spans.find('project', project) ?? this.#project(here, project)),
    );
    if (result !== null) this.known.jobs.set(jobKey(project, result), below(begun));
  }

  /** An owner makes a job: a task has said so, and otherwise it begins where its owner was told to. */
  jobBegins(here: Here, { to, from }: Pick<DerivedOf<'event'>, 'to' | 'from'>): void {
    const [, job] = to;
    if (this.known.jobs.has(job) || from === null) return;
    const project = from[0] === REDUCERS.project ? this.spans.find('project', from[1]) : undefined;
    const behind = this.known.behind(this.spans, here);
    this.known.jobs.set(job, behind ?? (project === undefined ? null : below(project)));
  }

  jobChanged(job: string, { status }: JobChanged): void {
    if (JOB_OVER.includes(status)) this.known.jobs.delete(job);
  }

  /** The cell of a job has failed: nothing more is told of it. */
  jobFailed(job: string): void {
    this.known.jobs.delete(job);
  }

  swarmChanged(here: Here, swarm: string, { status, code }: SwarmFact<'society/SwarmChanged@1'>): void {
    const span = this.spans.find('swarm', swarm);
    if (!SWARM_OVER.includes(status) && span === undefined) {
      const links = this.#linksBehind(here);
      const said = attributes(WORKFLOWS.swarm, { [REPRISE.swarm]: swarm });
      const start = { of: 'swarm', key: swarm, name: workflow(WORKFLOWS.swarm), attributes: said, links } as const;
      this.spans.begin(here, start, [REDUCERS.swarm, swarm, here.seq]);
    } else if (SWARM_OVER.includes(status) && span !== undefined)
      this.spans.end(span, here, endingOf(status === 'archived' ? 'complete' : status, code));
  }

  /** A swarm gives a member work. */
  worked(here: Here, { to, from, event }: Pick<DerivedOf<'event'>, 'to' | 'from' | 'event'>): void {
    const swarm = from?.[0] === REDUCERS.swarm ? from[1] : undefined;
    const span = swarm === undefined ? undefined : this.spans.find('swarm', swarm);
    if (swarm === undefined || span === undefined || event.name !== EVENTS.work) return;
    // The entity's own schema checked the event before it was delivered.
    const { n, slot } = event.value as { readonly n: number; readonly slot: string };
    const [, agent] = to;
    const task = taskOfWork(n);
    const key = keyOf([swarm, task]);
    const begun = this.spans.find('work', key) ?? this.#workBegins(here, span, { key, swarm, task, agent, slot });
    this.known.jobs.set(jobKey(agent, n), below(begun));
  }

  taskCompleted(here: Here, swarm: string, { task, status }: SwarmFact<'society/TaskCompleted@1'>): void {
    const span = this.spans.find('work', keyOf([swarm, task]));
    if (span !== undefined) this.spans.end(span, here, endingOf(status === 'ok' ? 'complete' : status, null));
  }

  #tree(here: Here, tree: string): OpenSpan {
    const said = attributes(WORKFLOWS.tree, { [REPRISE.tree]: tree });
    const links = this.#linksBehind(here);
    const start = { of: 'tree', key: tree, name: workflow(WORKFLOWS.tree), attributes: said, links } as const;
    return this.spans.begin(here, start, [REDUCERS.tree, tree, here.seq]);
  }

  #project(here: Here, project: string): OpenSpan {
    const said = attributes(WORKFLOWS.team, { [REPRISE.project]: project });
    const links = this.#linksBehind(here);
    const start = { of: 'project', key: project, name: workflow(WORKFLOWS.team), attributes: said, links } as const;
    return this.spans.begin(here, start, [REDUCERS.project, project, here.seq]);
  }

  #nodeBegins(here: Here, tree: string, { n, parent, agent, goal }: NodeFact, key: string): void {
    const root = this.spans.find('tree', tree) ?? this.#tree(here, tree); // an ended tree goes on
    const above = parent === null ? undefined : this.spans.find('node', keyOf([tree, parent]));
    const call = parent === null ? undefined : this.known.behind(this.spans, here, makes(goal));
    // A step of a serial, and a node that another node tries again, are parts of the node above them.
    const isOwn = above !== undefined && nearestNode(call) === above.spanId;
    this.spans.begin(
      here,
      {
        ...{ of: 'node', key, name: workflow(WORKFLOWS.node) },
        attributes: {
          ...attributes(WORKFLOWS.node, { [REPRISE.tree]: tree, [REPRISE.node]: n }),
          ...(agent === '' ? {} : { [ATTRIBUTES.agentName]: agent }),
        },
      },
      call !== undefined && isOwn ? call : below(above ?? root),
    );
  }

  #workBegins(
    here: Here,
    swarm: OpenSpan,
    {
      key,
      swarm: name,
      task,
      agent,
      slot,
    }: Readonly<Record<'key' | 'swarm' | 'agent' | 'slot', string>> & {
      readonly task: number;
    },
  ): OpenSpan {
    const said = {
      ...attributes(WORKFLOWS.swarmTask, { [REPRISE.swarm]: name, [REPRISE.task]: task }),
      ...{ [ATTRIBUTES.agentId]: agent, [ATTRIBUTES.agentName]: slot },
    };
    const start = { of: 'work', key, name: workflow(WORKFLOWS.swarmTask), attributes: said } as const;
    return this.spans.begin(here, start, below(swarm));
  }

  /** What began a trace of its own: the call of an agent. */
  #linksBehind(here: Here): readonly SpanLink[] {
    const call: Position | undefined = this.known.behind(this.spans, here);
    return call === undefined ? [] : linkTo(this.spans.world, call, 'call');
  }
}

/** Tells the call that makes a node, by what it asks for. */
function makes(goal: string): (call: PassedCall) => boolean {
  return ({ name, args }) => MAKING_CALLS.includes(name) && (args as { readonly goal?: unknown } | null)?.goal === goal;
}

/** The node whose run made a call. */
function nearestNode(call: Position | undefined): string | undefined {
  return call?.path.find(({ name }) => name.startsWith('node '))?.spanId;
}

/** A team says its own name. */
function named(span: OpenSpan, team: string | null): void {
  if (team === null) return;
  span.attributes[ATTRIBUTES.workflowName] = team;
  span.name = workflow(team);
}

function workflow(name: string): string {
  return `${OPERATIONS.workflow} ${name}`;
}

function attributes(name: string, place: Readonly<Record<string, SpanAttribute>>): Record<string, SpanAttribute> {
  return { [ATTRIBUTES.operation]: OPERATIONS.workflow, [ATTRIBUTES.workflowName]: name, ...place };
}

const WELL: readonly string[] = ['complete', 'completed', 'done'];
const NEITHER: readonly string[] = ['cancelled', 'skipped', 'disbanded'];

function endingOf(status: string, code: string | null): { readonly error?: string; readonly status?: string } {
  if (WELL.includes(status)) return {};
  return NEITHER.includes(status) ? { status } : { error: code ?? status };
}

/** The key of a job, by its owner and its number. */
function jobKey(owner: string, n: number): string {
  return `${owner}/j${n}`;
}

/** The task of a work: each attempt of a task is a work of its own. */
function taskOfWork(work: number): number {
  return Math.floor((work + 1) / 2);
}
