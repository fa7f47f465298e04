/** An app with an agent that says the last message again: what `reprise serve --sessions --app` opens a world with. */
import { defineAgent } from '../../../agent/src/index.js';
import { scriptBy } from '../../../providers/src/index.js';

export const world = {
  agents: [defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' })],
  models: { main: scriptBy(({ last }) => ({ text: `You said: ${last}` })) },
};
