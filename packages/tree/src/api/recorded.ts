/** What an app says about nodes, rights and limits, in the form that is recorded. */
import { type AgentWorld, durationMs, putText } from '@reprise/agent';
import {
  type Capability,
  capability,
  isWhole,
  present,
  RepriseError,
  requireArgument,
  requireKnownOptions,
} from '@reprise/contracts';
import { canonical } from '@reprise/kernel/authority';
import {
  type RecordedNodeSpec,
  type RecordedRights,
  type TreeBudget,
  type TreeLimits,
  treeLimits,
} from '../pure/index.js';
import { amountIn, type Money } from './budget.js';
import { goalAndPrompt, requireGoal, requireTask } from './goal.js';
import type { NodeChange, NodeSpec } from './nodes.js';
import { recordedReturns, recordedSchema } from './returns.js';

type Content = AgentWorld['kernel']['content'];

/** What a tree counts in, and whether a result of it may be a file. */
export interface NodeTerms {
  readonly unit: TreeBudget['unit'];
  readonly files: boolean;
}

const SPEC_FIELDS: Readonly<Record<keyof NodeSpec, true>> = {
  goal: true,
  prompt: true,
  type: true,
  returns: true,
  schema: true,
  blockedBy: true,
  priority: true,
  agent: true,
  budget: true,
  timeout: true,
  rights: true,
};

/** A node that an app adds. @throws RepriseError `invalid_argument`, `invalid_definition` */
export async function recordedNode(
  content: Content,
  spec: NodeSpec,
  { unit, files }: NodeTerms,
): Promise<RecordedNodeSpec> {
  requireKnownOptions(spec, SPEC_FIELDS, 'add');
  const { goal, prompt } = goalAndPrompt(spec);
  const { returns, schema_ref } = await recordedReturns(content, spec.returns, 'add returns');
  if (returns === 'file' && !files) throw noFiles();
  const given = spec.schema === undefined ? schema_ref : await recordedSchema(content, spec.schema, 'add schema');
  return {
    goal,
    prompt_ref: await putText(content, prompt),
    returns,
    ...present({
      schema_ref: given ?? undefined,
      blocked_by: spec.blockedBy === undefined ? undefined : [...spec.blockedBy],
      priority: spec.priority,
      agent: spec.agent?.name,
      budget: recordedAmount(unit, spec.budget),
      timeout_ms: spec.timeout === undefined ? undefined : durationMs(spec.timeout, 'add timeout'),
      rights: spec.rights === undefined ? undefined : recordedRights(spec.rights, 'add rights'),
    }),
  };
}

/** A change of a node. @throws RepriseError `invalid_argument` */
export async function recordedChange(content: Content, change: NodeChange, unit: NodeTerms['unit']): Promise<object> {
  requireKnownOptions(change, { goal: true, prompt: true, priority: true, agent: true, budget: true }, 'modify');
  const { goal, prompt, priority, agent, budget } = change;
  return present({
    goal: goal === undefined ? undefined : requireGoal(goal),
    prompt_ref: prompt === undefined ? undefined : await putText(content, requireTask(prompt)),
    priority,
    agent: agent?.name,
    budget: recordedAmount(unit, budget),
  });
}

/** An amount in the unit of a tree; undefined when none is stated. @throws RepriseError `invalid_argument` */
export function recordedAmount(unit: NodeTerms['unit'], money: Money | undefined): number | undefined {
  return money === undefined ? undefined : amountIn(unit, money, 'budget');
}

/** Rights in the form that is recorded. @throws RepriseError `invalid_argument` */
export function recordedRights(rights: Capability, where: string): RecordedRights {
  const checked = capability.safeParse(rights);
  if (checked.success) return canonical(checked.data) as RecordedRights;
  const [issue] = checked.error.issues;
  throw new RepriseError('invalid_argument', 'invalid rights of a node', {
    where: [where, ...(issue?.path ?? [])].map(String).join('.'),
    expected: "what it may do, such as { may: { tool: ['read_*'] } }",
    actual: rights,
  });
}

/** Limits that are checked. @throws RepriseError `invalid_argument` */
export function limitsOf(change: Partial<TreeLimits>): Partial<TreeLimits> {
  const checked = treeLimits.partial().safeParse(present(change));
  if (checked.success) return present(checked.data) as Partial<TreeLimits>;
  const [issue] = checked.error.issues;
  throw new RepriseError('invalid_argument', `invalid limit "${String(issue?.path[0] ?? '')}"`, {
    where: 'limits',
    expected: issue?.message,
    actual: change,
  });
}

const NODE_MAX = 9_999_999;

/**
 * The number of a node or of a question, as a method of a tree is given it.
 *
 * @param at the argument, such as `stop(node)`
 * @throws RepriseError `invalid_argument`
 */
export function numberOf(n: unknown, at: string, expected = 'the number of a node'): number {
  requireArgument(isWhole(n) && n >= 1 && n <= NODE_MAX, `tree.${at}`, `${expected}, from 1`, n);
  return n;
}

/** The error for a result that is a file, in a tree without a folder. */
export function noFiles(): RepriseError {
  return new RepriseError('invalid_argument', 'this tree takes no files as results', {
    where: 'returns',
    hint: 'Give the part a folder: trees({ agents, files: files(folder) }).',
  });
}
