import { BEGIN, END } from '../events.js';
import { adder } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** The provider is down. */
export const adapterFailure: Scenario = {
  name: 'adapter-failure',
  shows: 'The provider keeps failing: after three retries by the transport, the run fails with the provider’s code.',
  agents: [adder],
  says: [{ fails: { status: 500, message: 'Down.' } }],
  ends: {
    stop: { kind: 'Failed', code: 'provider_error_retryable/server', retryable: true, stage: 'llm_step' },
    text: '',
    requests: 4,
    answered: 0,
    events: [...BEGIN, 'llm_step.requested', 'llm_step.failed', ...END],
  },
};
