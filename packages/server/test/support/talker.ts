import { defineAgent } from '@reprise/agent';

/** An agent that talks. */
export const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' });
