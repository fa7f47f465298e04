import { BEGIN, COMPLETED, END, STEP } from '../events.js';
import { talker } from '../kit.js';
import type { Scenario } from '../scenario.js';

/** A summary on request. */
export const compact: Scenario = {
  name: 'compact',
  shows: 'A session is compacted on request: the model continues with a summary, and the transcript keeps everything.',
  agents: [talker],
  says: [{ text: 'One.' }, { text: 'Two.' }, { text: 'They counted to two.' }, { text: 'Three.' }],
  drive: async (stage) => {
    for (const id of ['first', 'second']) await (await stage.say(`The ${id}.`, id)).result();
    stage.told((await stage.session.compact({ id: 'room' })).status);
    return stage.say('The third.', 'third');
  },
  ends: {
    stop: COMPLETED,
    text: 'Three.',
    requests: 4,
    shown: /They counted to two/,
    told: ['accepted'],
    events: [...BEGIN, 'compaction.started', 'context.compacted', 'command.applied', ...STEP, ...END],
  },
};
