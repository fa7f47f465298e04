import { BEGIN, CANCELLED, END, FAILED_CALL, STEP } from '../events.js';
import { answerOf } from '../hands.js';
import { waiter } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** Words that come too late. */
export const steerWhileCancelling: Scenario = {
  name: 'steer-while-cancelling',
  shows:
    'A steer to a run that is being canceled is rejected; the run ends with its grace period, whatever its call does.',
  agents: [waiter],
  says: [{ calls: [{ id: 'w', tool: 'wait', args: {} }] }],
  drive: async (stage) => {
    const run = await stage.say('Go.', 'go');
    await stage.until(run, 'tool.requested');
    await stage.clock.settle();
    await stage.session.cancel({ id: 'stop' });
    const receipt = await stage.session.steer('No, go on.', { id: 'steer' });
    stage.told(answerOf(receipt));
    await stage.clock.advance(5_000);
    return run;
  },
  ends: {
    stop: CANCELLED,
    text: '',
    requests: 1,
    told: ['cancelling'],
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'command.accepted',
      'lifecycle',
      'command.rejected',
      'tool.failed',
      'command.applied',
      ...END,
    ],
  },
  afterCrash: {
    because: 'the call that did not stop died with the process, so the run that was being canceled ends at once',
    ends: [
      {
        events: [
          ...BEGIN,
          ...STEP,
          ...FAILED_CALL,
          ...STEP,
          'tool.requested',
          'command.accepted',
          'lifecycle',
          'command.rejected',
          'tool.failed',
          'command.applied',
          ...END,
        ],
      },
      {
        told: ['not_running'],
        events: [
          ...BEGIN,
          ...STEP,
          'tool.requested',
          'command.accepted',
          'lifecycle',
          'tool.failed',
          'command.applied',
          ...END,
        ],
      },
    ],
  },
};
