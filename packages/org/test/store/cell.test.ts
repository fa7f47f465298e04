/** The laws of reducers, for stores. */
import { defineApp } from '@reprise/kernel';
import { testReducer } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import { operatePlan, storeReducer } from '../../src/index.js';

testReducer({
  name: 'memory/Store@1',
  runner: { describe, it },
  make: async () => ({
    reducer: storeReducer,
    app: defineApp({ reducers: [storeReducer], plans: [operatePlan] }),
    senders: 'declared',
  }),
});
