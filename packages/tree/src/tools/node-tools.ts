/**
 * The tools of a node: its model or program acts on the tree by them, and the tree answers.
 *
 * Owns: what a tree receives of a call where that does not follow from the statement of the tool (`nodeCalls`). Does not
 * own: what a model may write and is told (the statement), what a call does (the reducer).
 *
 * Invariants
 * N1  Equal terms give equal tools, in every process: a definition finds its tools by name and fingerprint.
 * N2  The first tool of a name in the catalog takes the arguments of all others with that name: calls of programs,
 *     which name a tool only, find it.
 */
import { putText, schemaRefusal, type Tool } from '@reprise/agent';
import { isTextWithin, MICRO, present, startOfText, type Value, wellFormed } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import { memoryTools, offerTool } from '@reprise/org';
import { oneLine } from '@reprise/org/contracts';
import {
  type CallOf,
  type CallTerms,
  completeCall,
  FIXED_OPTIONS,
  makingCall,
  nodeCalls,
  OPTION_LENGTH_MAX,
  RESULT_TYPES,
  type ResultType,
  serialCall,
} from '../pure/index.js';

/** What tools of a tree depend on besides the type of a node's result. */
export interface ToolTerms extends Pick<CallTerms, 'unit' | 'files'> {
  /** What nodes may do with the store of the tree; absent for a tree without one. */
  readonly memory?: 'read' | 'write';
}

interface NodeToolTerms extends ToolTerms {
  /** The type of its result; `any` for a program, which learns it from its prompt. */
  readonly returns: ResultType | 'any';
  /** Whether it may make children. */
  readonly makes: boolean;
}

/** The tools of a node. */
export function nodeTools({ returns, makes, ...terms }: NodeToolTerms): readonly Tool[] {
  const making = makes ? [makingTool('spawn', terms), makingTool('fork', terms), serialTool(terms)] : [];
  return [readTree, readNode, ...making, completeTool(returns), ask, answer, stop, ...storeTools(terms)];
}

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

const readTree = offerTool('read_tree', nodeCalls.read_tree);

const readNode = offerTool('read_node', nodeCalls.read_node);

function makingTool(name: 'spawn' | 'fork', terms: ToolTerms): Tool {
  return once(`${name} ${terms.unit} ${terms.files}`, () =>
    offerTool(name, makingCall(name, { ...terms, schemaRefusal }), ({ timeout_seconds, ...budgets }) => ({
      ...present({ timeout_ms: timeout_seconds === undefined ? undefined : timeout_seconds * 1_000 }),
      ...budgetOf(budgets),
    })),
  );
}

function serialTool(terms: ToolTerms): Tool {
  return once(`serial ${terms.files}`, () => offerTool('serial', serialCall({ ...terms, schemaRefusal })));
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
  return once(`complete ${returns}`, () =>
    offerTool('complete', completeCall(returns), ({ result }, { content }) => keptResult(returns, result, content)),
  );
}

const ask = offerTool('ask', nodeCalls.ask, async ({ question, options: listed, returns = 'text' }, { content }) => {
  const fixed = FIXED_OPTIONS[returns];
  const options = fixed === undefined ? listed : [...fixed];
  const asked = wellFormed(question);
  return {
    question_ref: await putValue(content, present({ question: asked, options })),
    text_ref: await putText(content, options === undefined ? asked : `${asked}\n\n${choice(options)}`),
    goal: startOfLine(asked),
    ...present({ options }),
  };
});

const answer = offerTool('answer', nodeCalls.answer, ({ value }, { content }) => keptAnswer(value, content));

const stop = offerTool('stop', nodeCalls.stop);

/** An answer as a tree takes it: its text by link, and what was picked when it is short. */
export async function keptAnswer(
  value: string | boolean,
  content: ContentStore,
): Promise<Pick<CallOf<'answer'>, 'text_ref' | 'picked'>> {
  const text = typeof value === 'boolean' ? (value ? 'yes' : 'no') : wellFormed(value);
  const picked = typeof value === 'boolean' ? value : isTextWithin(text, OPTION_LENGTH_MAX) ? text : null;
  return { text_ref: await putText(content, text), picked };
}

interface Budgets {
  readonly budget_usd?: number;
  readonly budget_tokens?: number;
}

function budgetOf({ budget_usd, budget_tokens }: Budgets): Pick<CallOf<'spawn'>, 'budget' | 'unit'> {
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
