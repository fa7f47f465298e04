/** All tools of a society, by name: each file of operations brings its own. */
import { agentOperations } from './agents.js';
import { memberOperations } from './member.js';
import type { Operations } from './operations.js';
import { proofOperations } from './proofs.js';
import { returnOperations } from './returns.js';
import { reviewOperations } from './reviews.js';
import { swarmOperations } from './swarm-operations.js';

const ALL: Operations = {
  ...agentOperations,
  ...memberOperations,
  ...proofOperations,
  ...returnOperations,
  ...reviewOperations,
  ...swarmOperations,
};

/** All operations. */
export function operations(): Operations {
  return ALL;
}
