/** The laws of reducers, for the cells of a society. */
import { agentApp, appOf } from '@reprise/agent';
import { defineApp } from '@reprise/kernel';
import { operatePlan, storeReducer } from '@reprise/org';
import { topic } from '@reprise/org/contracts';
import { anyEventOf, testReducer } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { society } from '../src/index.js';
import { entityReducer } from '../src/pure/reducer/entity/entity.js';
import { groupReducer } from '../src/pure/reducer/group/group.js';
import { l1Reducer } from '../src/pure/reducer/memory/l1.js';
import { swarmReducer } from '../src/pure/reducer/swarm/swarm.js';
import { entityStub } from './support/entity-stub.js';
import { openTo } from './support/open-senders.js';

testReducer({
  name: 'society/L1@1',
  runner: { describe, it },
  make: async () => {
    const reducer = openTo(l1Reducer);
    // Many events concern tables alone: the state has its 16 links of the chain later than after the usual 60 events.
    return { reducer, fullAfter: 240, app: defineApp({ reducers: [reducer, entityStub] }) };
  },
});

testReducer({
  name: 'society/Group@1',
  runner: { describe, it },
  make: async () => ({
    reducer: groupReducer,
    app: defineApp({ reducers: [groupReducer, entityStub, topic, storeReducer], plans: [operatePlan] }),
    senders: 'declared',
  }),
});

/** Events of an entity, among them the one with which an app makes a person; an agent is made by a cell alone. */
const events = fc.oneof(
  { weight: 1, arbitrary: anyEventOf(entityReducer, 'creating').filter(({ name }) => name === 'society/Human@1') },
  { weight: 6, arbitrary: anyEventOf(entityReducer) },
);

testReducer({
  name: 'society/Entity@1',
  runner: { describe, it },
  make: async () => ({ reducer: entityReducer, events, app: appOf([society()], agentApp), senders: 'declared' }),
});

testReducer({
  name: 'society/Swarm@1',
  runner: { describe, it },
  make: async () => {
    const reducer = openTo(swarmReducer, ['society/OpenSwarm@1']);
    const part = society();
    const reducers = (part.reducers ?? []).map((one) => (one.name === reducer.name ? reducer : one));
    return { reducer, app: appOf([{ ...part, reducers }], agentApp) };
  },
});
