/** The laws of reducers, for hot contexts and groups. */
import { topic } from '@reprise/flow';
import { defineApp } from '@reprise/kernel';
import { operatePlan, storeReducer } from '@reprise/memory';
import { testReducer } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { groupReducer } from '../src/pure/reducer/group.js';
import { l1Reducer } from '../src/pure/reducer/l1.js';
import { entityStub } from './support/entity-stub.js';

testReducer({
  name: 'society/L1@1',
  runner: { describe, it },
  make: async () => ({ reducer: l1Reducer, app: defineApp({ reducers: [l1Reducer, entityStub] }) }),
});

testReducer({
  name: 'society/Group@1',
  runner: { describe, it },
  make: async () => ({
    reducer: groupReducer,
    app: defineApp({ reducers: [groupReducer, entityStub, topic, storeReducer], plans: [operatePlan] }),
  }),
});
