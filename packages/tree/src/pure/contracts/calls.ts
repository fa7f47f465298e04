/**
 * The tools of a node, each stated once: what its model or program writes, in the words that models read, and what the tree
 * receives of it.
 */
import { ref, utf8Length } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  apart,
  type CallTo,
  json,
  line,
  oneLine,
  optional,
  ownerTool,
  text,
  withinBytes,
} from '@reprise/org/contracts';
import { PROMPT_BYTES_MAX, QUESTION_BYTES_MAX, RESULT_SCHEMA_BYTES_MAX, RESULT_SUMMARY_BYTES_MAX } from './bounds.js';
import { BUDGET_UNITS } from './limits.js';
import {
  ANSWER_TYPES,
  FIXED_OPTIONS,
  GOAL_BYTES_MAX,
  NEEDS_MAX,
  ON_FAILURE,
  OPTION_LENGTH_MAX,
  OPTIONS_MAX,
  RESULT_TYPES,
  type ResultType,
  STEPS_MAX,
  VIEWS,
} from './names.js';
import { answered, askTarget, nodeNumber } from './node.js';

const SECONDS_MAX = 366 * 86_400;
const USD_MAX = 1_000_000;

/** What the tools that make nodes depend on. */
export interface CallTerms {
  /** The unit of the tree's budget; `any` for programs, whose calls name the unit. */
  readonly unit: (typeof BUDGET_UNITS)[number] | 'any';
  /** Whether a result may be a file. */
  readonly files: boolean;
  /** Why a JSON Schema cannot be used. Code outside says so, where a model writes one. */
  readonly schemaRefusal?: (schema: unknown) => string | undefined;
}

/** A text of a bounded size that is not only white space. */
function words<T extends z.Text>(field: T, bytesMax: number, isFilled = (given: string) => given.trim() !== ''): T {
  return field.min(1).max(bytesMax).refine(isFilled, 'is empty').superRefine(withinBytes(bytesMax));
}

/** A goal in one line. */
export const goalText = z.string().min(1).max(GOAL_BYTES_MAX);

const goal = line(goalText)
  .superRefine(withinBytes(GOAL_BYTES_MAX))
  .describe('The aim in one line, as people and other nodes see it.');

const seconds = z.int().min(1).max(SECONDS_MAX);

/** The name of an agent that a tree may start. */
export const nodeAgentName = z.string().min(1).max(64);

/** What a node needs: the number of another, or an edge with its terms. */
export const need = z.union([
  nodeNumber,
  z.strictObject({
    node: nodeNumber,
    ...optional({
      view: z.enum(VIEWS).describe('How much of its result the child is shown. Default full.'),
      on_failure: z
        .enum(ON_FAILURE)
        .describe(
          'When that node ends without a result: block fails the child (default), continue tells it of the failure.',
        ),
    }),
  }),
]);

/** What a node needs: a number, or an edge with its terms. */
export type Need = z.infer<typeof need>;

const blocked_by = z
  .array(need)
  .max(NEEDS_MAX)
  .describe('The nodes that must have ended before; the child is shown their results.');

/** The fields that steps and nodes share. */
function work({ files, schemaRefusal }: CallTerms) {
  const types = RESULT_TYPES.filter((type) => files || type !== 'file');
  const schema = json(z.looseObject({}))
    .describe(
      'For structured: the JSON Schema of the object. For list: the JSON Schema of one item, or of the whole list when its type is array. Without outside references.',
    )
    .superRefine((told, { addIssue }) => {
      const bytes = utf8Length(JSON.stringify(told));
      const isLong = bytes > RESULT_SCHEMA_BYTES_MAX;
      const why = isLong ? `${bytes} bytes; at most ${RESULT_SCHEMA_BYTES_MAX} are allowed` : schemaRefusal?.(told);
      if (why !== undefined) addIssue({ message: `schema_invalid: ${why}` });
    });
  return {
    goal,
    prompt: words(text(), PROMPT_BYTES_MAX).describe(
      'Everything that the child needs to know and to do: it does not see your conversation.',
    ),
    ...optional({
      returns: z.enum(types).describe('The type of its result. Default text.'),
      schema,
      agent: nodeAgentName.describe('The agent that does it. Default: your own.'),
    }),
  };
}

interface Typed {
  readonly returns?: ResultType;
  readonly schema?: unknown;
}

/** Refuses a schema for a result that has none, such as a text. */
function schemaFits({ returns: type = 'text', schema }: Typed, { addIssue }: z.RefineContext): void {
  if (schema === undefined || type === 'list' || type === 'structured') return;
  addIssue({ path: ['schema'], message: `is for "returns": "list" or "structured", not "${type}"` });
}

const budgets = optional({
  budget_usd: apart(z.number().gt(0).max(USD_MAX)).describe('What it may cost, in dollars.'),
  budget_tokens: apart(z.int().min(1)).describe('The tokens that it may use, input and output.'),
});

/** The budget in the unit of a tree. A field that is left out is one that is always absent. */
function budgetIn(unit: CallTerms['unit']): typeof budgets {
  const { budget_usd, budget_tokens } = budgets;
  const offered: Partial<typeof budgets> = {
    ...(unit === 'tokens' ? {} : { budget_usd }),
    ...(unit === 'micro_money' ? {} : { budget_tokens }),
  };
  return offered as typeof budgets;
}

const MAKES =
  'Answers at once with the number of the child, which begins when what it needs has ended. Do not wait for it: make all the children you need, then end your turn without calling complete. When they have all ended you run again and are shown their results.';

const MAKING = {
  spawn: `Makes a child: an agent of its own that works on a part of your goal, beside others. It is told your prompt, the goals above it and the results of its blocked_by, and nothing else. Use spawn for work that can be described completely; fork where the child must know what its siblings found; serial for steps in a fixed order. ${MAKES}`,
  fork: `Makes a child as spawn does, and also shows it the results of those siblings that are complete when it begins. Use it for work that builds on theirs: a review, a comparison, what comes next. Name in blocked_by each sibling whose result it must have; it costs more than spawn, as it reads more. ${MAKES}`,
} as const;

/** `spawn` and `fork`: the tools that make one child. */
export function makingCall(name: keyof typeof MAKING, terms: CallTerms) {
  return ownerTool({
    description: MAKING[name],
    args: z
      .strictObject({
        ...work(terms),
        ...budgetIn(terms.unit),
        ...optional({
          blocked_by,
          priority: z.int().min(-1000).max(1000).describe('Higher values begin first. Default 0.'),
          timeout_seconds: apart(seconds).describe('How long each of its runs may work.'),
        }),
      })
      .superRefine((asked, context) => {
        schemaFits(asked, context);
        if (asked.budget_usd === undefined || asked.budget_tokens === undefined) return;
        context.addIssue({ path: ['budget_tokens'], message: 'cannot stand beside budget_usd' });
      }),
    also: optional({
      /** What it may use, in the unit of the tree's budget. */
      budget: z.int().min(1),
      /** The unit in which the budget was stated; another one than the tree's is refused. */
      unit: z.enum(BUDGET_UNITS),
      timeout_ms: z
        .int()
        .min(1_000)
        .max(SECONDS_MAX * 1_000),
    }),
  });
}

/** `serial`: the tool that makes children which run one after another. */
export function serialCall(terms: CallTerms) {
  const step = z.strictObject(work(terms)).superRefine(schemaFits);
  return ownerTool({
    description: `Makes children that run one after another: each begins when the one before is complete, and is shown its result. Use it for a fixed order, such as write, test, publish; when a step fails, the later ones do not run. The series is one node whose result is that of its last step, or a list of all. ${MAKES}`,
    args: z.strictObject({
      goal,
      steps: z.array(step).min(1).max(STEPS_MAX).describe('The steps in their order.'),
      ...optional({
        blocked_by,
        result: z
          .enum(['last', 'list'])
          .describe('The result of the series: that of its last step (default), or a list of all.'),
      }),
    }),
  });
}

/** A result by its type; `any` for a program, which learns the type from its prompt. */
const RESULTS: Readonly<Record<ResultType | 'any', z.BuiltSchema>> = {
  text: z.string().min(1).describe('The whole result, as text.'),
  boolean: z.boolean().describe('The result: true or false.'),
  list: z.array(z.unknown()).describe('The result: a list.'),
  structured: z.looseObject({}).describe('The result: an object.'),
  file: words(z.string(), 1_024).describe(
    'The path of the file that is the result, relative to the folder of the tree.',
  ),
  any: z.unknown().describe('The result, of the type that your prompt states.'),
};

/** `complete` for a type of result. */
export function completeCall(type: ResultType | 'any') {
  return ownerTool({
    description:
      'Gives the result of this node. Always call it when your work is done: others see this result, not your conversation. When the answer lists problems, correct the result and call it again. When you made children, end your turn first, and call complete when you run again with their results; leave the result out only to say that you have finished handing out the work.',
    args: z.strictObject(
      optional({
        result: apart(RESULTS[type]),
        summary: words(text(), RESULT_SUMMARY_BYTES_MAX).describe(
          'The result in a few sentences, for nodes that are shown a summary only.',
        ),
      }),
    ),
    /** A text that is not blank is given as `text`, anything else as `value_ref`; neither when nothing was given. */
    also: optional({ text: z.strictObject({ ref: ref(), bytes: z.int().min(1) }), value_ref: ref() }),
  });
}

const option = z.string().min(1).max(OPTION_LENGTH_MAX);

const ask = ownerTool({
  description:
    'Asks a question that you cannot decide yourself, and waits for the answer: people, your parent, or your children. Give options where the answers are few. With a deadline and a default, the default counts when the time runs out. When the answer has the status pending, end your turn: you run again with the answer. Use it rarely: a person may be asleep.',
  args: z
    .strictObject({
      question: apart(words(z.string(), QUESTION_BYTES_MAX, (asked) => oneLine(asked) !== '')).describe(
        'The question, with all that is needed to answer it.',
      ),
      ...optional({
        options: z.array(option).min(2).max(OPTIONS_MAX).describe('The possible answers, where they are few.'),
        default: option.describe('The option that counts when the time runs out.'),
        target: askTarget.describe(
          'Who is asked: people (human, the default), your parent, all your children, or one child by its number.',
        ),
        returns: z
          .enum(ANSWER_TYPES)
          .describe(
            'The type of the answer: text (default), boolean for yes or no, approval for approved or rejected, which nodes give as advice: only a person approves.',
          ),
        deadline_seconds: seconds.describe('How long to wait. Default: no limit.'),
      }),
    })
    .superRefine(({ returns: type = 'text', options, default: chosen }, { addIssue }) => {
      const fixed = FIXED_OPTIONS[type];
      const refuse = (field: string, message: string) => addIssue({ path: [field], message });
      if (fixed !== undefined && options !== undefined)
        refuse('options', `are ${fixed.join(' and ')} for "returns": "${type}": leave them out`);
      if (options !== undefined && new Set(options).size < options.length) refuse('options', 'name one option twice');
      const known = fixed ?? options;
      if (chosen === undefined) return;
      if (known === undefined) return refuse('default', 'needs options, and is one of them');
      if (!known.includes(chosen)) refuse('default', `not_an_option: has to be one of ${known.join(', ')}`);
    }),
  also: {
    question_ref: ref(),
    /** The question as agents read it. */
    text_ref: ref(),
    /** The beginning of the question, in one line. */
    goal: goalText,
  },
});

/** The most general terms: the tools of these take the calls of all others. */
const ANY: CallTerms = { unit: 'any', files: true };

/** The tools of a node, by their names. */
export const nodeCalls = {
  read_tree: ownerTool({
    description:
      'Lists the nodes of the tree: number, type, goal, status, parent, needs and type of result. Use it to see what others work on before you make children. It is no way to wait: end your turn instead.',
    args: z.strictObject(
      optional({
        root: nodeNumber.describe('Only this node and those below it. Default: the whole tree.'),
        depth: z.int().min(1).max(12).describe('How many levels.'),
        after: z.int().min(0).describe('Begins behind this node: the field next of the last page.'),
      }),
    ),
  }),
  read_node: ownerTool({
    description:
      'Shows one node: its status, needs, questions and attempts, and its result or the summary of it. You see whole prompts and results of yourself, of nodes below you, and of nodes that you need.',
    args: z.strictObject({ node_id: nodeNumber.describe('The number of the node, as list_nodes shows it.') }),
  }),
  spawn: makingCall('spawn', ANY),
  fork: makingCall('fork', ANY),
  serial: serialCall(ANY),
  complete: completeCall('any'),
  ask,
  answer: ownerTool({
    description:
      'Answers a question that another node asks you: its number and text stand in your prompt or in a message. A question that you leave open goes on to your parent, and at last to people.',
    args: z.strictObject({
      ask_id: nodeNumber.describe('The number of the question.'),
      value: apart(z.union([words(z.string(), PROMPT_BYTES_MAX), z.boolean()])).describe(
        'The answer: one of the options where there are some, else text; true or false for a boolean.',
      ),
    }),
    also: { text_ref: ref(), picked: answered.shape.picked },
  }),
  stop: ownerTool({
    description:
      'Stops a node below you and all below it; what they did so far stays. Use it for work that is no longer needed. You cannot stop yourself, siblings or nodes above: ask your parent.',
    args: z.strictObject({
      node_id: nodeNumber.describe('The node to stop, with all below it.'),
      ...optional({ reason: apart(z.string().max(1_000)).describe('Why, for readers of your conversation.') }),
    }),
  }),
};

/** The tool of a node. */
export type NodeTool = keyof typeof nodeCalls;

/** The tools of a node. */
export const NODE_TOOLS = Object.keys(nodeCalls) as readonly NodeTool[];

/** The arguments of a tool, as the tree receives them. */
export type CallOf<T extends NodeTool> = CallTo<(typeof nodeCalls)[T]>;
