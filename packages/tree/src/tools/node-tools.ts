/**
 * The tools of a node: its model or program acts on the tree by them, and the tree answers.
 *
 * Owns: what a model is told of each tool, and how long texts of a call become links, so that what reaches the tree
 * passes `nodeCalls`. Does not own: what a call does (the reducer), what a model may write (`arguments.ts`).
 *
 * Invariants
 * N1  Equal terms give equal tools, in every process: a definition finds its tools by name and fingerprint.
 * N2  The first tool of a name in the catalog takes the arguments of all others with that name: calls of programs,
 *     which name a tool only, find it.
 */
import { defineOwnerTool, putText, type Tool } from '@reprise/agent';
import { isTextWithin, MICRO, present, type Ref, startOfText, type Value, wellFormed } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import { memoryTools } from '@reprise/memory';
import type * as z from 'zod';
import {
  type CallOf,
  type NodeTool,
  OPTION_LENGTH_MAX,
  RESULT_TYPES,
  type RecordedNodeSpec,
  type ResultType,
} from '../pure/index.js';
import {
  answerArgs,
  askArgs,
  type Budgets,
  completeArgs,
  FIXED_OPTIONS,
  nodeArgs,
  oneLine,
  readNodeArgs,
  readTreeArgs,
  serialArgs,
  stopArgs,
  type ToolTerms,
} from './arguments.js';

/** The node whose tools are meant. */
export interface NodeToolTerms extends ToolTerms {
  /** The type of its result; `any` for a program, which learns it from its prompt. */
  readonly returns: ResultType | 'any';
  /** Whether it may make children. */
  readonly makes: boolean;
}

const MAKES =
  'Answers at once with the number of the child, which begins when what it needs has ended. Do not wait for it: make all the children you need, then end your turn without calling complete. When they have all ended you run again and are shown their results.';

const DESCRIPTIONS: Readonly<Record<NodeTool, string>> = {
  read_tree:
    'Lists the nodes of the tree: number, type, goal, status, parent, needs and type of result. Use it to see what others work on before you make children. It is no way to wait: end your turn instead.',
  read_node:
    'Shows one node: its status, needs, questions and attempts, and its result or the summary of it. You see whole prompts and results of yourself, of nodes below you, and of nodes that you need.',
  spawn: `Makes a child: an agent of its own that works on a part of your goal, beside others. It is told your prompt, the goals above it and the results of its blocked_by, and nothing else. Use spawn for work that can be described completely; fork where the child must know what its siblings found; serial for steps in a fixed order. ${MAKES}`,
  fork: `Makes a child as spawn does, and also shows it the results of those siblings that are complete when it begins. Use it for work that builds on theirs: a review, a comparison, what comes next. Name in blocked_by each sibling whose result it must have; it costs more than spawn, as it reads more. ${MAKES}`,
  serial: `Makes children that run one after another: each begins when the one before is complete, and is shown its result. Use it for a fixed order, such as write, test, publish; when a step fails, the later ones do not run. The series is one node whose result is that of its last step, or a list of all. ${MAKES}`,
  complete:
    'Gives the result of this node. Always call it when your work is done: others see this result, not your conversation. When the answer lists problems, correct the result and call it again. When you made children, end your turn first, and call complete when you run again with their results; leave the result out only to say that you have finished handing out the work.',
  ask: 'Asks a question that you cannot decide yourself, and waits for the answer: people, your parent, or your children. Give options where the answers are few. With a deadline and a default, the default counts when the time runs out. When the answer has the status pending, end your turn: you run again with the answer. Use it rarely: a person may be asleep.',
  answer:
    'Answers a question that another node asks you: its number and text stand in your prompt or in a message. A question that you leave open goes on to your parent, and at last to people.',
  stop: 'Stops a node below you and all below it; what they did so far stays. Use it for work that is no longer needed. You cannot stop yourself, siblings or nodes above: ask your parent.',
};

/** The tools of a node. */
export function nodeTools({ returns, makes, ...terms }: NodeToolTerms): readonly Tool[] {
  const making = makes ? [makingTool('spawn', terms), makingTool('fork', terms), serialTool(terms)] : [];
  return [readTree, readNode, ...making, completeTool(returns), ask, answer, stop, ...storeTools(terms)];
}

/** The tools for the store of a tree. */
function storeTools({ memory }: ToolTerms): readonly Tool[] {
  if (memory === undefined) return [];
  const { memory_query, memory_store } = memoryTools;
  return memory === 'write' ? [memory_query, memory_store] : [memory_query];
}

/** All tools that nodes may have, whatever their terms; the most general of each name first (N2). */
export function nodeToolCatalog(): readonly Tool[] {
  const general = nodeTools({ returns: 'any', makes: true, unit: 'any', files: true });
  const others = (['tokens', 'micro_money'] as const).flatMap((unit) =>
    [true, false].flatMap((files) =>
      RESULT_TYPES.flatMap((returns) => nodeTools({ returns, makes: true, unit, files })),
    ),
  );
  return [...new Set([...general, ...others])];
}

/** Tools by their terms: equal terms give the same tool, so that a catalog has each once. */
const made = new Map<string, Tool>();

function once(key: string, make: () => Tool): Tool {
  const tool = made.get(key) ?? make();
  made.set(key, tool);
  return tool;
}

const readTree: Tool = defineOwnerTool({
  name: 'read_tree',
  description: DESCRIPTIONS.read_tree,
  args: readTreeArgs,
  keep: (asked) => present(asked) as CallOf<'read_tree'>,
}) as Tool;

const readNode: Tool = defineOwnerTool({
  name: 'read_node',
  description: DESCRIPTIONS.read_node,
  args: readNodeArgs,
}) as Tool;

function makingTool(name: 'spawn' | 'fork', terms: ToolTerms): Tool {
  const make = () =>
    defineOwnerTool({
      name,
      description: DESCRIPTIONS[name],
      args: nodeArgs(terms),
      keep: async (asked, { content }) => keptNode(asked, content),
    }) as Tool;
  return once(`${name} ${terms.unit} ${terms.files}`, make);
}

function serialTool(terms: ToolTerms): Tool {
  const make = () =>
    defineOwnerTool({
      name: 'serial',
      description: DESCRIPTIONS.serial,
      args: serialArgs(terms),
      keep: async ({ goal, steps, blocked_by, result }, { content }): Promise<CallOf<'serial'>> => ({
        goal: oneLine(wellFormed(goal)),
        steps: await Promise.all(steps.map((step) => keptWork(step, content))),
        ...present({ blocked_by: needsOf(blocked_by), result }),
      }),
    }) as Tool;
  return once(`serial ${terms.files}`, make);
}

/** A result as the tree is given it. A text needs no further check of its type, unless it is blank. */
async function keptResult(
  returns: ResultType | 'any',
  result: unknown,
  content: ContentStore,
): Promise<Pick<CallOf<'complete'>, 'text' | 'value_ref'>> {
  if (result === undefined) return {};
  if (returns !== 'text' || typeof result !== 'string' || result.trim() === '') {
    return { value_ref: await putValue(content, result as Value) };
  }
  const bytes = new TextEncoder().encode(wellFormed(result));
  return { text: { ref: await content.put(bytes), bytes: bytes.length } };
}

function completeTool(returns: ResultType | 'any'): Tool {
  const make = () =>
    defineOwnerTool({
      name: 'complete',
      description: DESCRIPTIONS.complete,
      args: completeArgs(returns),
      keep: async ({ result, summary }, { content }): Promise<CallOf<'complete'>> =>
        present({
          ...(await keptResult(returns, result, content)),
          summary_ref: summary === undefined ? undefined : await putText(content, wellFormed(summary)),
        }),
    }) as Tool;
  return once(`complete ${returns}`, make);
}

const ask: Tool = defineOwnerTool({
  name: 'ask',
  description: DESCRIPTIONS.ask,
  args: askArgs,
  keep: async ({ question, options: listed, ...rest }, { content }): Promise<CallOf<'ask'>> => {
    const { returns = 'text' } = rest;
    const options = returns === 'text' ? listed : [...FIXED_OPTIONS[returns]];
    const asked = wellFormed(question);
    return {
      question_ref: await putValue(content, present({ question: asked, options })),
      text_ref: await putText(content, options === undefined ? asked : `${asked}\n\n${choice(options)}`),
      goal: startOfLine(asked),
      ...present({ options, ...rest }),
    };
  },
}) as Tool;

const answer: Tool = defineOwnerTool({
  name: 'answer',
  description: DESCRIPTIONS.answer,
  args: answerArgs,
  keep: async ({ ask_id, value }, { content }): Promise<CallOf<'answer'>> => ({
    ask_id,
    ...(await keptAnswer(value, content)),
  }),
}) as Tool;

const stop: Tool = defineOwnerTool({
  name: 'stop',
  description: DESCRIPTIONS.stop,
  args: stopArgs,
  keep: ({ node_id }): CallOf<'stop'> => ({ node_id }),
}) as Tool;

/** An answer as a tree takes it: its text by link, and what was picked when it is short. */
export async function keptAnswer(
  value: string | boolean,
  content: ContentStore,
): Promise<Pick<CallOf<'answer'>, 'text_ref' | 'picked'>> {
  const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : wellFormed(value);
  const picked = typeof value === 'boolean' ? value : isTextWithin(text, OPTION_LENGTH_MAX) ? text : null;
  return { text_ref: await putText(content, text), picked };
}

type NodeArgs = z.infer<ReturnType<typeof nodeArgs>>;
type StepArgs = z.infer<ReturnType<typeof serialArgs>>['steps'][number];
type Kept = CallOf<'serial'>['steps'][number];

async function keptNode(asked: NodeArgs, content: ContentStore): Promise<RecordedNodeSpec> {
  const { blocked_by, priority, timeout_seconds } = asked;
  return {
    ...(await keptWork(asked, content)),
    ...present({
      blocked_by: needsOf(blocked_by),
      priority,
      timeout_ms: timeout_seconds === undefined ? undefined : timeout_seconds * 1_000,
    }),
    ...budgetOf(asked as Budgets), // the schema says so, whatever its unit
  };
}

/** The fields that steps and nodes share. */
async function keptWork({ goal, prompt, returns, schema, agent }: StepArgs, content: ContentStore): Promise<Kept> {
  const schema_ref: Ref | undefined = schema === undefined ? undefined : await putValue(content, schema);
  return {
    goal: oneLine(wellFormed(goal)),
    prompt_ref: await putText(content, wellFormed(prompt)),
    ...present({ returns, schema_ref, agent }),
  };
}

function needsOf(asked: NodeArgs['blocked_by']): RecordedNodeSpec['blocked_by'] {
  return asked?.map((one) => (typeof one === 'number' ? one : present(one)));
}

function budgetOf({ budget_usd, budget_tokens }: Budgets): Pick<RecordedNodeSpec, 'budget' | 'unit'> {
  if (budget_tokens !== undefined) return { budget: budget_tokens, unit: 'tokens' };
  if (budget_usd === undefined) return {};
  return { budget: Math.max(1, Math.round(budget_usd * MICRO)), unit: 'micro_money' };
}

/** The beginning of a question in one line: what stands in the picture of the tree. */
function startOfLine(text: string): string {
  const line = oneLine(text);
  return line.length <= GOAL_LENGTH ? line : `${startOfText(line, GOAL_LENGTH)}…`;
}

const GOAL_LENGTH = 120;

function choice(options: readonly string[]): string {
  return `The answer is one of: ${options.map((option) => JSON.stringify(option)).join(', ')}`;
}
