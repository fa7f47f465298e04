/** Checks the steps of a script: a misspelled field would be ignored, and its model would answer with nothing. */
import {
  anObject,
  aText,
  fieldsOf,
  hintOf,
  isFields,
  isFilled,
  isFunction,
  type KnownOptions,
  kindOfThing,
  promiseHint,
  RepriseError,
  requireKinds,
  unknownFields,
  wholeFrom,
} from '@reprise/contracts';
import type { ScriptStep } from './script.js';

const STEP: KnownOptions<ScriptStep> = {
  text: aText,
  json: true,
  calls: { expected: 'a list of calls, such as [{ tool: "add", args: { a: 2 } }]', fits: Array.isArray },
  reasoning: aText,
  fail: aText,
  cut: wholeFrom(0),
  usage: anObject,
  delayMs: { expected: 'milliseconds, from 0', fits: (thing) => typeof thing === 'number' && thing >= 0 },
};

const CALL: KnownOptions<NonNullable<ScriptStep['calls']>[number]> = { tool: true, args: true };

/** What models and other libraries call these fields. */
const STEP_ELSEWHERE = {
  content: 'text',
  message: 'text',
  answer: 'text',
  toolCalls: 'calls',
  tool_calls: 'calls',
  tools: 'calls',
  call: 'calls',
  error: 'fail',
  delay: 'delayMs',
  object: 'json',
};
const CALL_ELSEWHERE = {
  name: 'tool',
  toolName: 'tool',
  function: 'tool',
  arguments: 'args',
  input: 'args',
  params: 'args',
};

const FORM = "a step, such as { text: 'Done.' } or { calls: [{ tool, args }] }";

/**
 * Refuses what is no step, at the place where it was written.
 *
 * @param where the step: `step 2`
 * @throws RepriseError `invalid_argument`
 */
export function requireStep(step: unknown, where: string): asserts step is ScriptStep {
  if (!isFields(step) || isFunction(step)) {
    throw invalidScript(where, FORM, step, promiseHint(step));
  }
  requireNames(step, { known: STEP, elsewhere: STEP_ELSEWHERE, where });
  requireKinds(step, STEP, `script, ${where}`);
  const { calls = [] } = step as { readonly calls?: readonly unknown[] };
  for (const [i, call] of calls.entries()) requireCall(call, `${where} calls[${i}]`);
}

/** Refuses what is neither a step nor a function that makes one. */
export function requireStepOrFunction(step: unknown, where: string): void {
  if (isFunction(step)) return;
  if (Array.isArray(step))
    throw invalidScript(where, FORM, step, 'Give each step as an argument of its own: script(first, second).');
  requireStep(step, where);
}

function requireCall(call: unknown, where: string): void {
  if (!isFields(call)) throw invalidScript(where, 'a call, such as { tool: "add", args: { a: 2 } }', call);
  requireNames(call, { known: CALL, elsewhere: CALL_ELSEWHERE, where });
  const { tool, args } = call;
  if (!isFilled(tool)) throw invalidScript(`${where}.tool`, 'the name of a tool', tool);
  if (args === undefined || isFunction(fieldsOf(args).then))
    throw invalidScript(`${where}.args`, 'the arguments of the call; {} when it has none', args, promiseHint(args));
}

function requireNames(
  thing: object,
  given: {
    readonly known: Readonly<Record<string, unknown>>;
    readonly elsewhere: Readonly<Record<string, string>>;
    readonly where: string;
  },
): void {
  const { known, elsewhere, where } = given;
  const [unknown] = unknownFields(thing, known);
  if (unknown === undefined) return;
  throw new RepriseError('invalid_argument', `unknown field "${unknown}" in a script`, {
    where,
    expected: Object.keys(known).join(', '),
    actual: unknown,
    ...hintOf(unknown, known, elsewhere),
  });
}

function invalidScript(where: string, expected: string, actual: unknown, hint?: string): RepriseError {
  return new RepriseError('invalid_argument', 'invalid script', {
    where,
    expected,
    actual: kindOfThing(actual),
    ...(hint === undefined ? {} : { hint }),
  });
}
