import type { Value } from '@reprise/contracts';
import { type AdapterOutcome, type App, defineApp } from '@reprise/kernel';
import { type ScriptedAdapter, type ScriptedOutcome, scriptedAdapter } from '../adapters/index.js';
import { programEffects, programPlan } from './program-plan.js';
import { deafReducer, programReducer } from './program-reducer.js';

/**
 * The app of the random worlds: two reducers and a plan that execute any program they get.
 *
 * @example openWorld({ store, app: programApp, adapters: programAdapters() })
 */
export const programApp: App = defineApp({ reducers: [programReducer, deafReducer], plans: [programPlan] });

/**
 * The adapters of the random worlds: one scripted adapter for each effect of {@link programApp}. An effect whose
 * parameters hold an outcome is answered with it at once; every other hangs until the test releases it.
 */
export function programAdapters(): ScriptedAdapter[] {
  return Object.values(programEffects).map((effect) => {
    const options = { name: effect.name, concurrency: 3, reconcile: reconciled };
    return scriptedAdapter<Value, Value>(effect, ({ params }) => stepFor(params), options);
  });
}

function reconciled({ params }: { readonly params: Value }) {
  const answer = answerIn(params);
  if (answer === 'forgotten') return { verdict: 'cannot_happen' as const };
  return isOutcome(answer) ? { verdict: 'happened' as const, outcome: answer } : { verdict: 'unknown' as const };
}

function stepFor(params: Value): ScriptedOutcome<Value> {
  const answer = answerIn(params);
  if (answer === 'throws') return { throws: new Error('thrown by the program') };
  return isOutcome(answer) ? answer : { hang: { status: 'ok', payload: answer } };
}

function answerIn(params: Value): Value {
  return typeof params === 'object' && params !== null && 'answer' in params ? (params.answer as Value) : null;
}

function isOutcome(answer: Value): answer is Value & AdapterOutcome<Value> {
  return typeof answer === 'object' && answer !== null && 'status' in answer;
}
