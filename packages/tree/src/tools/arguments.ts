/** The arguments of a node's tools, as a model writes them. What a tree receives is in `../pure/contracts/calls.ts`. */
import { schemaRefusal } from '@reprise/agent';
import * as z from 'zod';
import { PROMPT_BYTES_MAX, QUESTION_BYTES_MAX, RESULT_SCHEMA_BYTES_MAX, RESULT_SUMMARY_BYTES_MAX } from '../limits.js';
import {
  ANSWER_TYPES,
  type BUDGET_UNITS,
  GOAL_BYTES_MAX,
  NEEDS_MAX,
  ON_FAILURE,
  OPTION_LENGTH_MAX,
  OPTIONS_MAX,
  RESULT_TYPES,
  type ResultType,
  STEPS_MAX,
  VIEWS,
} from '../pure/index.js';

const SECONDS_MAX = 366 * 86_400;
const USD_MAX = 1_000_000;

/** What tools of a tree depend on besides the type of a node's result. */
export interface ToolTerms {
  /** The unit of the tree's budget; `any` for programs, whose calls name the unit. */
  readonly unit: (typeof BUDGET_UNITS)[number] | 'any';
  /** Whether a result may be a file. */
  readonly files: boolean;
  /** What nodes may do with the store of the tree; absent for a tree without one. */
  readonly memory?: 'read' | 'write';
}

/** A text of a bounded size that is not only white space. */
function words(bytesMax: number) {
  return z
    .string()
    .min(1)
    .max(bytesMax)
    .superRefine((text, { addIssue }) => {
      const bytes = bytesOf(text);
      if (text.trim() === '') addIssue({ code: 'custom', message: 'is empty' });
      if (bytes > bytesMax)
        addIssue({ code: 'custom', message: `has ${bytes} bytes; at most ${bytesMax} are allowed` });
    });
}

/** A text of a few words in one line. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The number of a node, as tools take it. */
const nodeId = z.int().min(1).max(9_999_999);

const goal = words(GOAL_BYTES_MAX).describe('The aim in one line, as people and other nodes see it.');

const prompt = words(PROMPT_BYTES_MAX).describe(
  'Everything that the child needs to know and to do: it does not see your conversation.',
);

const schema = z
  .looseObject({})
  .describe(
    'For structured: the JSON Schema of the object. For list: the JSON Schema of one item, or of the whole list when its type is array. Without outside references.',
  )
  .superRefine((told, { addIssue }) => {
    const bytes = bytesOf(JSON.stringify(told));
    if (bytes > RESULT_SCHEMA_BYTES_MAX)
      return addIssue({
        code: 'custom',
        message: `schema_invalid: ${bytes} bytes; at most ${RESULT_SCHEMA_BYTES_MAX} are allowed`,
      });
    const refused = schemaRefusal(told);
    if (refused !== undefined) addIssue({ code: 'custom', message: `schema_invalid: ${refused}` });
  });

const need = z.union([
  nodeId,
  z.strictObject({
    node: nodeId,
    view: z.enum(VIEWS).optional().describe('How much of its result the child is shown. Default full.'),
    on_failure: z
      .enum(ON_FAILURE)
      .optional()
      .describe(
        'When that node ends without a result: block fails the child (default), continue tells it of the failure.',
      ),
  }),
]);

const blockedBy = z
  .array(need)
  .max(NEEDS_MAX)
  .describe('The nodes that must have ended before; the child is shown their results.');

const agent = z.string().min(1).max(64).describe('The agent that does it. Default: your own.');

/** The types of results that a child may have. */
function typesOf({ files }: ToolTerms): readonly [ResultType, ...ResultType[]] {
  return files ? RESULT_TYPES : ['text', 'boolean', 'list', 'structured'];
}

function returns(terms: ToolTerms) {
  return z.enum(typesOf(terms)).describe('The type of its result. Default text.');
}

interface Typed {
  readonly returns?: ResultType | undefined;
  readonly schema?: unknown;
}

/** Refuses a schema for a result that has none, such as a text. */
function schemaFits({ returns: type = 'text', schema: told }: Typed, { addIssue }: z.RefinementCtx): void {
  if (told === undefined || type === 'list' || type === 'structured') return;
  addIssue({ code: 'custom', path: ['schema'], message: `is for "returns": "list" or "structured", not "${type}"` });
}

const usd = z.number().gt(0).max(USD_MAX).describe('What it may cost, in dollars.');
const tokens = z.int().min(1).describe('The tokens that it may use, input and output.');

/** The arguments of `spawn` and `fork`. */
export function nodeArgs(terms: ToolTerms) {
  return z
    .strictObject({
      goal,
      prompt,
      returns: returns(terms).optional(),
      schema: schema.optional(),
      blocked_by: blockedBy.optional(),
      priority: z.int().min(-1000).max(1000).optional().describe('Higher values begin first. Default 0.'),
      agent: agent.optional(),
      ...(terms.unit === 'tokens' ? {} : { budget_usd: usd.optional() }),
      ...(terms.unit === 'micro_money' ? {} : { budget_tokens: tokens.optional() }),
      timeout_seconds: z.int().min(1).max(SECONDS_MAX).optional().describe('How long each of its runs may work.'),
    })
    .superRefine((asked, context) => {
      schemaFits(asked, context);
      const { budget_usd, budget_tokens } = asked as Budgets;
      if (budget_usd === undefined || budget_tokens === undefined) return;
      context.addIssue({ code: 'custom', path: ['budget_tokens'], message: 'cannot stand beside budget_usd' });
    });
}

/** The budget of a node, as a model states it. */
export interface Budgets {
  readonly budget_usd?: number | undefined;
  readonly budget_tokens?: number | undefined;
}

/** The arguments of `serial`. */
export function serialArgs(terms: ToolTerms) {
  const step = z
    .strictObject({
      goal,
      prompt,
      returns: returns(terms).optional(),
      schema: schema.optional(),
      agent: agent.optional(),
    })
    .superRefine(schemaFits);
  return z.strictObject({
    goal,
    steps: z.array(step).min(1).max(STEPS_MAX).describe('The steps in their order.'),
    blocked_by: blockedBy.optional(),
    result: z
      .enum(['last', 'list'])
      .optional()
      .describe('The result of the series: that of its last step (default), or a list of all.'),
  });
}

/** The schema of a result by its type. */
const RESULTS = {
  text: z.string().min(1).describe('The whole result, as text.'),
  boolean: z.boolean().describe('The result: true or false.'),
  list: z.array(z.unknown()).describe('The result: a list.'),
  structured: z.looseObject({}).describe('The result: an object.'),
  file: words(1_024).describe('The path of the file that is the result, relative to the folder of the tree.'),
  any: z.unknown().describe('The result, of the type that your prompt states.'),
} as const;

/** The arguments of `complete`. */
export function completeArgs(type: ResultType | 'any') {
  const result: z.ZodType<unknown> = RESULTS[type];
  return z.strictObject({
    result: result.optional(),
    summary: words(RESULT_SUMMARY_BYTES_MAX)
      .optional()
      .describe('The result in a few sentences, for nodes that are shown a summary only.'),
  });
}

/** The answers that a question has by its type. */
export const FIXED_OPTIONS = { boolean: ['yes', 'no'], approval: ['approved', 'rejected'] } as const;

const option = z.string().min(1).max(OPTION_LENGTH_MAX);

/** The arguments of `ask`. */
export const askArgs = z
  .strictObject({
    question: words(QUESTION_BYTES_MAX).describe('The question, with all that is needed to answer it.'),
    options: z.array(option).min(2).max(OPTIONS_MAX).optional().describe('The possible answers, where they are few.'),
    default: option.optional().describe('The option that counts when the time runs out.'),
    target: z
      .union([z.enum(['human', 'parent', 'children']), nodeId])
      .optional()
      .describe(
        'Who is asked: people (human, the default), your parent, all your children, or one child by its number.',
      ),
    returns: z
      .enum(ANSWER_TYPES)
      .optional()
      .describe(
        'The type of the answer: text (default), boolean for yes or no, approval for approved or rejected, which nodes give as advice: only a person approves.',
      ),
    deadline_seconds: z.int().min(1).max(SECONDS_MAX).optional().describe('How long to wait. Default: no limit.'),
  })
  .superRefine(({ returns: type = 'text', options, default: chosen }, { addIssue }) => {
    const fixed: readonly string[] | undefined = type === 'text' ? undefined : FIXED_OPTIONS[type];
    const refuse = (field: string, message: string) => addIssue({ code: 'custom', path: [field], message });
    if (fixed !== undefined && options !== undefined)
      refuse('options', `are ${fixed.join(' and ')} for "returns": "${type}": leave them out`);
    if (options !== undefined && new Set(options).size < options.length) refuse('options', 'name one option twice');
    const known = fixed ?? options;
    if (chosen === undefined) return;
    if (known === undefined) return refuse('default', 'needs options, and is one of them');
    if (!known.includes(chosen)) refuse('default', `not_an_option: has to be one of ${known.join(', ')}`);
  });

/** The arguments of `answer`. */
export const answerArgs = z.strictObject({
  ask_id: nodeId.describe('The number of the question.'),
  value: z
    .union([words(PROMPT_BYTES_MAX), z.boolean()])
    .describe('The answer: one of the options where there are some, else text; true or false for a boolean.'),
});

/** The arguments of `stop`. */
export const stopArgs = z.strictObject({
  node_id: nodeId.describe('The node to stop, with all below it.'),
  reason: z.string().max(1_000).optional().describe('Why, for readers of your conversation.'),
});

/** The arguments of `read_tree`. */
export const readTreeArgs = z.strictObject({
  root: nodeId.optional().describe('Only this node and those below it. Default: the whole tree.'),
  depth: z.int().min(1).max(12).optional().describe('How many levels.'),
  after: z.int().min(0).optional().describe('Begins behind this node: the field next of the last page.'),
});

/** The arguments of `read_node`. */
export const readNodeArgs = z.strictObject({ node_id: nodeId.describe('The node.') });
