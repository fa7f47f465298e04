/** What the files of an entity declare for its cell, put together: tables and facts. */
import { commandTables } from './commands.js';
import { entityCoreFacts, entityCoreTables } from './entity.js';
import { failedFacts, failedTables } from './failed.js';
import { memberFacts, memberTables } from './member.js';
import { proofTables } from './proofs.js';
import { returnFacts, returnTables } from './returns.js';
import { unheard } from './revived.js';
import { swarmTablesOfEntity } from './swarm.js';

/** The tables of an entity. */
export const entityTables = {
  ...entityCoreTables,
  ...commandTables,
  ...memberTables,
  ...proofTables,
  ...returnTables,
  ...swarmTablesOfEntity,
  ...failedTables,
  unheard,
};

/** The facts of an entity. */
export const entityFacts = { ...entityCoreFacts, ...memberFacts, ...returnFacts, ...failedFacts };
