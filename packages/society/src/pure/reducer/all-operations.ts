/** All tools of a society, by name: each file of operations brings its own. */
import { agentOperations } from './agents.js';
import type { Operations } from './operations.js';

const ALL: Operations = { ...agentOperations };

/** All operations. */
export function operations(): Operations {
  return ALL;
}
