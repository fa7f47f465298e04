/** A model that answers by a script: for tests, examples and documentation. It fails on any step too few or too many. */
import { type FailureKind, RepriseError, type Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import type { ModelClient, ModelResult, UnifiedRequest } from './model.js';

/** What the model answers at one step: a text, calls, or a failure. */
export interface ScriptStep {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: Value }[];
  readonly fail?: FailureKind;
}

/** A scripted model. */
export interface ScriptedModel extends ModelClient {
  /** The requests it got, in order. */
  readonly requests: readonly UnifiedRequest[];
  /**
   * Asserts that every step was used.
   *
   * @throws RepriseError `invalid_argument` naming the steps that were not
   */
  done(): void;
}

/**
 * A model that answers these steps in order, one for each request.
 *
 * A request beyond the last step is answered as a terminal provider failure, so that a loop ends.
 *
 * @example
 * const model = script({ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, { text: 'It is 5.' })
 */
export function script(...steps: readonly (ScriptStep | ((request: UnifiedRequest) => ScriptStep))[]): ScriptedModel {
  const requests: UnifiedRequest[] = [];
  return {
    requests,
    profile: {
      profile_id: 'script',
      provider: 'script',
      model_default: 'script',
      supports_parallel_tool_calls: true,
      supports_reasoning_effort: false,
      supports_streaming: false,
      supports_tool_choice_named: false,
    },
    generate: async (request) => {
      const number = requests.push(request);
      const step = steps[number - 1];
      return step === undefined
        ? surplus()
        : answer(typeof step === 'function' ? step(request) : step, number, request);
    },
    done: () => {
      if (requests.length === steps.length) return;
      throw new RepriseError('invalid_argument', 'the script and the requests differ in number', {
        expected: `${steps.length} requests`,
        actual: `${requests.length}`,
      });
    },
  };
}

function surplus(): ModelResult {
  return { ok: false, failure: { status: 'error', code: 'provider_error_terminal/script_ended', retryable: false } };
}

function answer(step: ScriptStep, number: number, request: UnifiedRequest): ModelResult {
  if (step.fail !== undefined) {
    return {
      ok: false,
      failure: { status: 'error', code: step.fail, retryable: step.fail === 'provider_error_retryable' },
    };
  }
  const calls = (step.calls ?? []).map(({ tool, args }, i) => ({ callId: `call_${number}_${i + 1}`, tool, args }));
  return {
    ok: true,
    response: {
      requestBody: encode(JSON.parse(JSON.stringify(request))),
      rawBody: encode(JSON.parse(JSON.stringify(step))),
      ...(step.text === undefined ? {} : { text: step.text }),
      calls,
      finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
      warnings: [],
    },
  };
}
